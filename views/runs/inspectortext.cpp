// SPDX-License-Identifier: GPL-3.0-or-later
#include "inspectortext.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <QCoreApplication>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/theme.h>
#include <telltale/items/comma.h>
#include <telltale/items/shownname.h>

namespace telltale::views {

using series::CellState;
using series::CellValue;

namespace {
struct Words {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::InspectorText)
};
}

QString subtitleText(const store::Catalog& catalog, Kind kind, Rank rank, const std::vector<ModuleKey>& keys)
{
    std::vector<std::pair<Slot, DType>> dtypes;
    for (const ModuleKey& key : keys) {
        const auto* row = firstRow(catalog, kind, rank, key);
        if (row && catalog.series[row->newest].desc->dtype != DType::Unknown)
            dtypes.emplace_back(key.slot, catalog.series[row->newest].desc->dtype);
    }
    std::ranges::stable_sort(dtypes, {}, [](const auto& one) { return one.first.role; });
    // One says enough, unless it is not what the module computes in: tokens go in, and floats come out.
    const bool isOne = std::ranges::all_of(dtypes, [&](const auto& one) { return one.second == dtypes.back().second; })
        && !dtypes.empty() && dtypes.back().first.role != Role::Input;
    QStringList parts;
    for (const auto& [slot, dtype] : dtypes) {
        const QString of = isOne || !slot.hasText() ? QString() : items::shownSlot(slot) + u' ';
        parts.append(of + QString::fromUtf8(dtypeName(dtype)));
    }
    if (isOne)
        parts.resize(1);
    std::vector<Rank> ranks;
    for (const store::SourceInfo& source : catalog.sources) {
        if (std::find(ranks.begin(), ranks.end(), source.rank) == ranks.end())
            ranks.push_back(source.rank);
    }
    parts.append(Words::tr("rank %1 of %2").arg(rank.value).arg(ranks.size()));
    for (const store::SourceInfo& source : catalog.sources) {
        if (source.rank != rank || source.dp < 0)
            continue;
        parts.append(QStringLiteral("dp\u00a0%1 tp\u00a0%2").arg(source.dp).arg(std::max(0, source.tp)));
        break;
    }
    return parts.join(items::comma());
}

QString shapeText(const store::SeriesInfo& series)
{
    QStringList sizes;
    for (const std::int64_t size : series.desc->shape)
        sizes.append(QString::number(size));
    return u'[' + sizes.join(QStringLiteral(", ")) + u']';
}

QString statLabel(Stat stat)
{
    switch (stat) {
    case Stat::Nans:
        return QStringLiteral("NaN");
    case Stat::PosInfs:
        return QStringLiteral("+Inf");
    case Stat::NegInfs:
        return QChar(0x2212) + QStringLiteral("Inf");
    default:
        return statText(stat);
    }
}

FactTable::Value valueOf(Stat stat, const CellValue& cell, std::uint64_t numel, Step shownStep)
{
    FactTable::Value value;
    const CellState state = isNonFiniteCount(stat) ? cell.state : series::readoutState(stat, cell, numel);
    value.critical = series::isNonFinite(state);
    switch (state) {
    case CellState::NaN:
        value.text = QStringLiteral("NaN");
        break;
    case CellState::PosInf:
        value.text = QStringLiteral("+Inf");
        break;
    case CellState::NegInf:
        value.text = QChar(0x2212) + QStringLiteral("Inf");
        break;
    case CellState::Value:
        value.text = factsOf(stat).shown == Shown::Identity ? QString::fromUtf8(identityText(cell.identity))
                                                            : statValueText(stat, cell.value);
        if (factsOf(stat).shown == Shown::Identity)
            value.elide = Qt::ElideLeft; // small sums begin alike
        value.critical = value.critical || (factsOf(stat).shown == Shown::Count && cell.value > 0);
        break;
    default:
        value.text = QChar(0x2013);
    }
    if (series::isPartOf(stat, cell, numel))
        value.hint = glyphs::leftOutText(cell.state);
    else if (cell.state >= CellState::Absent && cell.step != shownStep)
        value.hint = Words::tr("of step %1").arg(formatStep(cell.step.value));
    return value;
}

void addLastFinite(FactTable::Row& row, Stat stat, const std::vector<std::optional<LastFinite>>& last)
{
    std::vector<std::size_t> places;
    for (std::size_t c = 0; c < row.values.size(); ++c) {
        if (last[c] && row.values[c].critical && row.values[c].hint.isEmpty())
            places.push_back(c);
    }
    if (places.empty())
        return;
    const auto hints = std::count_if(
        row.values.begin(), row.values.end(), [](const FactTable::Value& value) { return !value.hint.isEmpty(); });
    const QString at = formatStep(last[places.front()]->step.value);
    const bool isOneStep = std::all_of(
        places.begin(), places.end(), [&](std::size_t c) { return last[c]->step == last[places.front()]->step; });
    const bool areSeveral = places.size() + static_cast<std::size_t>(hints) > 1;
    if (areSeveral)
        row.hint = isOneStep ? Words::tr("last finite at %1").arg(at) : Words::tr("last finite");
    for (const std::size_t c : places) {
        const QString finite = statValueText(stat, last[c]->value), step = formatStep(last[c]->step.value);
        row.values[c].hint = !areSeveral ? Words::tr("last finite %1 at %2").arg(finite, step)
            : isOneStep                  ? finite
                                         : Words::tr("%1 at %2", "last finite value, and its step").arg(finite, step);
    }
}

QString nothingText(const InspectorAnswer& answer, Step step, StepRange own)
{
    CellState why = CellState::NotCollected;
    for (const auto& row : answer.values) {
        for (const CellValue& cell : row)
            why = std::max(why, cell.state);
    }
    const QString at = formatStep(step.value);
    return !own.contains(step)      ? Words::tr("This run has no step %1.").arg(at)
        : why == CellState::Damaged ? Words::tr("What was collected at step %1 cannot be read.").arg(at)
        : why == CellState::Gap     ? Words::tr("What was collected at step %1 did not arrive.").arg(at)
                                    : Words::tr("Not collected at step %1.").arg(at);
}

}
