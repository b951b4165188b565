// SPDX-License-Identifier: GPL-3.0-or-later
#include "differencemap.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <QCoreApplication>
#include <QStringList>

#include <telltale/common/theme.h>
#include <telltale/heatmap/heatimage.h>
#include <telltale/heatmap/runends.h>

namespace telltale::views {

using series::CellState;

namespace {

struct Cell {
    CellState state = CellState::NotCollected;
    float value = 0;
};

/// |B| / |A|: 1 where both are zero.
float ratioOf(float a, float b)
{
    return a == b ? 1 : std::abs(b) / std::abs(a);
}

Cell between(const Cell& a, const Cell& b, HeatScale value)
{
    const bool isRatio = value == HeatScale::Ratio;
    const float same = isRatio ? 1.0F : 0.0F;
    if (a.state == b.state && (series::isNonFinite(a.state) || a.state == CellState::Absent))
        return { CellState::Value, same };
    if (a.state == CellState::Value && b.state == CellState::Value)
        return { CellState::Value, isRatio ? ratioOf(a.value, b.value) : b.value - a.value };
    // Lost or not collected in one of them: nothing can be said.
    if (a.state < CellState::Absent || b.state < CellState::Absent)
        return { std::min(a.state, b.state), 0 };
    return { std::max({ a.state, b.state, CellState::NegInf }), 0 };
}

/// Says which steps both have, in those of the reference, and in its own where a run begins and ends.
void tellEnds(HeatSides& sides, StepRange a, StepRange b, StepRange ownOfA, StepRange ownOfB)
{
    sides.both = { std::max(a.first, b.first), std::min(a.last, b.last) };
    if (b.isEmpty()) {
        sides.after
            = QCoreApplication::translate("DifferenceMap", "%1 has nothing beside these steps").arg(sides.nameB);
        return;
    }
    QStringList before;
    QStringList after;
    for (const auto& [name, steps, own] : { std::tuple(sides.nameA, a, ownOfA), std::tuple(sides.nameB, b, ownOfB) }) {
        if (steps.first == sides.both.first)
            before.append(noStepBefore(name, own.first));
        if (steps.last == sides.both.last)
            after.append(noStepAfter(name, own.last));
    }
    // Each wraps: an empty line tells where the next begins.
    sides.before = before.join(QStringLiteral("\n\n"));
    sides.after = after.join(QStringLiteral("\n\n"));
}

}

void addDifferenceMap(CompareAnswer& answer, const CompareRequest& request, ComparePart a, ComparePart b)
{
    std::map<std::pair<ModuleKey, QString>, std::size_t> others;
    for (std::size_t row = 0; row < b.rows.size(); ++row)
        others.emplace(std::pair(b.rows[row].key, b.rows[row].label), row);
    HeatPicture picture;
    picture.axes = HeatAxes::ModuleByStep;
    picture.scaleMode = request.value;
    picture.order = request.order;
    picture.kind = request.kind;
    picture.stat = request.stat;
    picture.isLive = request.isLive;
    auto sides = std::make_shared<HeatSides>();
    sides->nameA = request.names.value(0);
    sides->nameB = request.names.value(static_cast<int>(request.against));
    tellEnds(*sides, a.own, b.own, request.steps[0], request.steps[request.against]);
    series::HeatResult& result = picture.result;
    result.range = a.heat.range;
    result.columns = a.heat.columns;
    result.reduction = a.heat.reduction;
    const auto columns = static_cast<std::size_t>(result.columns);
    const bool hasB = b.heat.columns == a.heat.columns;
    std::vector<CellState> strongest(columns, CellState::NotCollected);
    for (std::size_t row = 0; row < a.rows.size(); ++row) {
        const auto other = others.find({ a.rows[row].key, a.rows[row].label });
        if (other == others.end()) {
            ++answer.onlyInA;
            continue;
        }
        picture.rows.push_back(std::move(a.rows[row]));
        for (std::size_t c = 0; c < columns; ++c) {
            const std::size_t atA = row * columns + c;
            const std::size_t atB = other->second * columns + c;
            const Cell cellA { a.heat.states[atA], a.heat.values[atA] };
            const Cell cellB = hasB ? Cell { b.heat.states[atB], b.heat.values[atB] } : Cell {};
            const Cell cell = between(cellA, cellB, request.value);
            result.states.push_back(cell.state);
            result.values.push_back(cell.value);
            sides->statesA.push_back(cellA.state);
            sides->statesB.push_back(cellB.state);
            sides->valuesA.push_back(cellA.value);
            sides->valuesB.push_back(cellB.value);
            strongest[c]
                = std::max({ strongest[c], cell.state, series::isNonFinite(cellA.state) ? cellA.state : cell.state,
                    series::isNonFinite(cellB.state) ? cellB.state : cell.state });
        }
        others.erase(other);
    }
    answer.onlyInB = static_cast<int>(others.size());
    result.rows = static_cast<int>(picture.rows.size());
    picture.sides = std::move(sides);
    if (!picture.rows.empty()) {
        picture.finish();
        picture.strongest = std::move(strongest); // what is not finite in both is equal, and no less news
        if (!request.plot.isEmpty()) {
            picture.cells = HeatImage::cells(picture, request.plot, request.pixelRatio, *request.theme);
            picture.cellsTheme = request.theme;
        }
    }
    answer.map = std::make_shared<const HeatPicture>(std::move(picture));
}

}
