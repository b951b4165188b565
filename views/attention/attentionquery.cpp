// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentionquery.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <telltale/common/rowlist.h>
#include <telltale/store/rowsof.h>

namespace telltale::views {

using series::CellState;
using series::CellValue;

namespace {

constexpr std::size_t kUnasked = 4; ///< curves that are drawn before anybody chose a head

/// A head, and the rows that say something of it: one a micro step.
struct HeadRows {
    ModuleKey key;
    std::vector<std::size_t> rows; ///< places in Heads::rows
};

struct LayerRows {
    AttentionLayer layer;
    std::int64_t looked = 0;
    std::vector<HeadRows> heads;
    std::vector<std::size_t> headZero; ///< as HeadRows::rows
};

struct Heads {
    std::vector<series::RowAttempts> rows;
    std::vector<LayerRows> layers;
};

Heads headsOf(const AttentionRequest& request)
{
    const series::RowIndex& index = store::rowsOf(*request.catalog);
    const std::vector<bool> chosen = index.matching(NamePattern(request.filter.toStdString()));
    Heads heads;
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> layerOf; // by name and call
    for (const series::RowIndex::Row* row : index.select(Kind::Attention, request.rank, Stat::Entropy)) {
        const series::SeriesKey& key = index.key(*row);
        if (!chosen[row->tensor])
            continue;
        const auto [place, isNew] = layerOf.try_emplace({ key.name, key.slot.call }, heads.layers.size());
        if (isNew)
            heads.layers.emplace_back();
        LayerRows& layer = heads.layers[place->second];
        layer.layer.name = QString::fromStdString(key.name);
        if (key.slot.call > 0)
            layer.layer.name += QStringLiteral(" @%1").arg(key.slot.call);
        heads.rows.push_back(row->attempts);
        if (key.slot.head < 0) {
            layer.headZero.push_back(heads.rows.size() - 1);
            continue;
        }
        const store::SeriesInfo& newest = request.catalog->series[row->newest];
        layer.layer.shape = analysis::AttentionShape::of(newest.shape);
        layer.looked = static_cast<std::int64_t>(newest.numel);
        layer.layer.definition = QString::fromStdString(newest.definition);
        const auto same = std::find_if(layer.heads.begin(), layer.heads.end(),
            [&key](const HeadRows& one) { return one.key.slot.head == key.slot.head; });
        if (same == layer.heads.end())
            layer.heads.push_back({ { QString::fromStdString(key.name), key.slot }, { heads.rows.size() - 1 } });
        else
            same->rows.push_back(heads.rows.size() - 1);
    }
    std::erase_if(heads.layers, [](const LayerRows& layer) { return layer.heads.empty(); });
    return heads;
}

/// One value of several micro steps: the strongest of those that are not finite, else the mean of those that are.
CellValue together(const std::vector<CellValue>& column, const std::vector<std::size_t>& rows)
{
    CellValue all;
    double sum = 0;
    int count = 0;
    for (const std::size_t row : rows) {
        const CellValue& one = column[row];
        if (one.state > all.state)
            all = one;
        if (one.state == CellState::Value) {
            sum += one.value;
            ++count;
        }
    }
    if (all.state == CellState::Value)
        all.value = sum / count;
    return all;
}

Expected<std::shared_ptr<const AttentionPicture>> readMaps(store::RunReader& reader, const AttentionRequest& request)
{
    auto picture = std::make_shared<AttentionPicture>();
    picture->atStep = request.atStep;
    picture->rank = request.rank;
    picture->order = request.order;
    picture->isLive = request.curves.isLive;
    Heads heads = headsOf(request);
    std::array<std::vector<CellValue>, 4> columns;
    const Step before { request.atStep.value - AttentionPicture::kBefore };
    const std::array<std::pair<Step, Stat>, 4> asked { { { request.atStep, Stat::Entropy },
        { request.atStep, Stat::SoftmaxMax }, { request.atStep, Stat::MaxLogit }, { before, Stat::Entropy } } };
    for (std::size_t i = 0; i < asked.size(); ++i) {
        columns[i].resize(heads.rows.size());
        if (heads.rows.empty() || asked[i].first.value < 0)
            continue;
        auto column = reader.column(asked[i].first, asked[i].second, heads.rows, true);
        if (!column)
            return tl::unexpected(std::move(column).error());
        columns[i] = std::move(*column);
    }
    std::map<std::array<std::int64_t, 3>, std::vector<analysis::HeadNumbers>> uniforms; // by queries, keys and sample
    for (LayerRows& from : heads.layers) {
        AttentionLayer& layer = picture->layers.emplace_back(std::move(from.layer));
        auto& uniform = uniforms[{ layer.shape.queries, layer.shape.keys, from.looked }];
        if (uniform.empty())
            uniform = analysis::uniformHeads(layer.shape, from.looked);
        std::stable_sort(from.heads.begin(), from.heads.end(),
            [](const HeadRows& a, const HeadRows& b) { return a.key.slot.head < b.key.slot.head; });
        layer.headZero = together(columns[0], from.headZero);
        for (const HeadRows& head : from.heads) {
            HeadCell cell { head.key, together(columns[0], head.rows), together(columns[1], head.rows),
                together(columns[2], head.rows) };
            if (const CellValue earlier = together(columns[3], head.rows); earlier.state == CellState::Value)
                cell.before = earlier.value;
            if (cell.entropy.state == CellState::Value)
                cell.sign = analysis::signOf({ cell.entropy.value, cell.softmaxMax.value }, cell.before, uniform);
            layer.heads.push_back(std::move(cell));
        }
    }
    picture->finish(request.values[0]);
    return std::shared_ptr<const AttentionPicture>(picture);
}

/// The heads among what is selected, or the lowest ones.
void chooseHeads(AttentionAnswer& answer, CurveRequest& curves, const AttentionRequest& request)
{
    std::vector<int> colors;
    for (std::size_t i = 0; i < request.selection.size(); ++i) {
        if (answer.maps->placeOf(request.selection[i])[0] < 0)
            continue;
        answer.shown.push_back(request.selection[i]);
        colors.push_back(request.curves.colors[i]);
    }
    answer.areChosen = !answer.shown.empty();
    if (!answer.areChosen) {
        answer.shown = answer.maps->lowest(kUnasked);
        colors.resize(answer.shown.size());
        std::iota(colors.begin(), colors.end(), 0);
    }
    curves.selection = answer.shown;
    curves.colors = std::move(colors);
}

}

Expected<AttentionAnswer> readAttention(
    store::RunReader& reader, const AttentionRequest& request, const series::CancelToken& cancel)
{
    AttentionAnswer answer;
    auto maps = readMaps(reader, request);
    if (!maps)
        return tl::unexpected(std::move(maps).error());
    answer.maps = std::move(*maps);
    if (answer.maps->isEmpty())
        return answer;
    CurveRequest curves = request.curves;
    curves.kind = Kind::Attention;
    curves.omitted = 0;
    chooseHeads(answer, curves, request);
    HeatRequest strips = request.strips;
    strips.kind = Kind::Attention;
    strips.scale = HeatScale::Linear;
    if (!answer.shown.empty()) {
        const auto place = static_cast<std::size_t>(answer.maps->placeOf(answer.shown.front())[0]);
        const AttentionLayer& layer = answer.maps->layers[place];
        answer.layer = layer.name;
        for (const HeadCell& head : layer.heads)
            strips.only.push_back(head.key);
    }
    for (std::size_t side = 0; side < answer.below.size(); ++side) {
        curves.stat = strips.stat = statOf(request.values[side]);
        if (request.below == BelowMaps::Curves) {
            auto read = readCurves(reader, curves, cancel);
            if (!read)
                return tl::unexpected(std::move(read).error());
            answer.below[side].curves = std::make_shared<const CurvePicture>(std::move(*read));
        } else {
            auto read = readHeat(reader, strips, cancel);
            if (!read)
                return tl::unexpected(std::move(read).error());
            answer.below[side].strips = std::make_shared<const HeatPicture>(std::move(*read));
        }
    }
    return answer;
}

}
