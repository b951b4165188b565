// SPDX-License-Identifier: GPL-3.0-or-later
#include "attentionquery.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <QCoreApplication>

#include <telltale/common/rowlist.h>
#include <telltale/items/saidwords.h>
#include <telltale/plot/rankcurves.h>
#include <telltale/store/rowsof.h>

namespace telltale::views {

using series::CellState;
using series::CellValue;

namespace {

constexpr std::size_t kUnasked = 4; ///< curves that are drawn before anybody chose a head
constexpr std::size_t kBands = 1; ///< of as many layers: two hide each other, and the curves
constexpr std::size_t kMostInBand = 128; ///< heads

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

Heads headsOf(const AttentionRequest& request, Rank rank)
{
    const series::RowIndex& index = store::rowsOf(*request.catalog);
    const std::vector<bool> chosen = index.matching(NamePattern(request.filter.toStdString()));
    Heads heads;
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> layerOf; // by name and call
    for (const series::RowIndex::Row* row : index.select(Kind::Attention, rank, Stat::Entropy)) {
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
        layer.layer.shape = analysis::AttentionShape::of(newest.desc->shape);
        layer.looked = static_cast<std::int64_t>(newest.desc->numel);
        layer.layer.definition = items::saidwords::inLanguage(QString::fromStdString(newest.desc->definition));
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

/// Without the rows that no layer speaks of.
Heads keepUsed(Heads heads)
{
    Heads kept;
    const auto move = [&](std::vector<std::size_t>& places) {
        for (std::size_t& place : places) {
            kept.rows.push_back(std::move(heads.rows[place]));
            place = kept.rows.size() - 1;
        }
    };
    for (LayerRows& layer : heads.layers) {
        move(layer.headZero);
        for (HeadRows& head : layer.heads)
            move(head.rows);
    }
    kept.layers = std::move(heads.layers);
    return kept;
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

/// The step that heads are compared with: AttentionPicture::kBefore earlier, or the first of them that has anything.
Expected<std::optional<Step>> stepBefore(
    store::RunReader& reader, const Heads& heads, Step at, const series::CancelToken& cancel)
{
    if (heads.layers.empty())
        return std::optional<Step>();
    series::CurveQuery query;
    query.row = heads.rows[heads.layers.front().heads.front().rows.front()];
    query.stat = Stat::Entropy;
    query.range = { Step { std::max<std::int64_t>(0, at.value - AttentionPicture::kBefore) }, at };
    query.pixels = static_cast<int>(query.range.count());
    const auto found = reader.curve(query, cancel);
    if (!found)
        return tl::unexpected(found.error());
    const auto& buckets = found->buckets;
    const auto first
        = std::find_if(buckets.begin(), buckets.end(), [](const series::Bucket& bucket) { return bucket.samples > 0; });
    const auto last = std::find_if(
        buckets.rbegin(), buckets.rend(), [](const series::Bucket& bucket) { return bucket.samples > 0; });
    const bool isEnough = buckets.rend() - last > first - buckets.begin() + AttentionPicture::kLeastBefore;
    return isEnough ? std::optional(Step { query.range.first.value + (first - buckets.begin()) }) : std::nullopt;
}

/// What heads show at a step, a layer each.
Expected<std::vector<AttentionLayer>> readLayers(
    store::RunReader& reader, Heads heads, Rank rank, Step at, std::optional<Step> before)
{
    std::array<std::vector<CellValue>, 4> columns;
    const std::array<std::pair<std::optional<Step>, Stat>, 4> asked { { { at, Stat::Entropy }, { at, Stat::SoftmaxMax },
        { at, Stat::MaxLogit }, { before, Stat::Entropy } } };
    for (std::size_t i = 0; i < asked.size(); ++i) {
        columns[i].resize(heads.rows.size());
        if (heads.rows.empty() || !asked[i].first)
            continue;
        auto column = reader.column(*asked[i].first, asked[i].second, heads.rows, true);
        if (!column)
            return tl::unexpected(std::move(column).error());
        columns[i] = std::move(*column);
    }
    std::vector<AttentionLayer> layers;
    std::map<std::array<std::int64_t, 3>, std::vector<analysis::HeadNumbers>> uniforms; // by queries, keys and sample
    for (LayerRows& from : heads.layers) {
        AttentionLayer& layer = layers.emplace_back(std::move(from.layer));
        layer.rank = rank;
        auto& uniform = uniforms[{ layer.shape.queries, layer.shape.keys, from.looked }];
        if (uniform.empty())
            uniform = analysis::uniformHeads(layer.shape, from.looked);
        std::stable_sort(from.heads.begin(), from.heads.end(),
            [](const HeadRows& a, const HeadRows& b) { return a.key.slot.head < b.key.slot.head; });
        layer.headZero = together(columns[0], from.headZero);
        for (const HeadRows& head : from.heads) {
            HeadCell cell { head.key, together(columns[0], head.rows), together(columns[1], head.rows),
                together(columns[2], head.rows) };
            cell.microSteps = std::max(1, static_cast<int>(std::ranges::count_if(head.rows, [&](std::size_t row) {
                return columns[0][row].state == CellState::Value;
            })));
            if (const CellValue earlier = together(columns[3], head.rows); earlier.state == CellState::Value)
                cell.before = earlier.value;
            if (cell.entropy.state == CellState::Value)
                cell.sign = analysis::signOf({ cell.entropy.value, cell.softmaxMax.value }, cell.before, uniform);
            layer.heads.push_back(std::move(cell));
        }
    }
    return layers;
}

/// Of what the heads show; nothing where they show nothing.
std::optional<Step> newestStep(const std::vector<AttentionLayer>& layers)
{
    std::optional<Step> newest;
    for (const AttentionLayer& layer : layers) {
        for (const HeadCell& head : layer.heads) {
            for (const CellValue& value : { head.entropy, head.softmaxMax, head.maxLogit }) {
                if (value.state >= CellState::Absent)
                    newest = std::max(newest, std::optional(value.step));
            }
        }
    }
    return newest;
}

/// One head on several ranks: the strongest of what is not finite, else the largest value less the smallest.
CellValue spreadOf(const std::vector<const HeadCell*>& heads, CellValue HeadCell::*value)
{
    CellValue all;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const HeadCell* head : heads) {
        const CellValue& one = head->*value;
        if (one.state > all.state)
            all = one;
        if (one.state == CellState::Value) {
            low = std::min(low, one.value);
            high = std::max(high, one.value);
        }
    }
    if (all.state == CellState::Value)
        all.value = high - low;
    return all;
}

/// The layers of the first rank, with what lies between it and the others.
std::vector<AttentionLayer> spread(std::vector<std::vector<AttentionLayer>> ranks)
{
    std::map<std::pair<QString, int>, std::vector<const HeadCell*>> same;
    for (const auto& layers : ranks) {
        for (const AttentionLayer& layer : layers) {
            for (const HeadCell& head : layer.heads)
                same[{ layer.name, head.key.slot.head }].push_back(&head);
        }
    }
    std::vector<AttentionLayer> all = ranks.empty() ? std::vector<AttentionLayer>() : ranks.front();
    for (AttentionLayer& layer : all) {
        for (HeadCell& head : layer.heads) {
            const auto& heads = same[{ layer.name, head.key.slot.head }];
            head.entropy = spreadOf(heads, &HeadCell::entropy);
            head.softmaxMax = spreadOf(heads, &HeadCell::softmaxMax);
            head.maxLogit = spreadOf(heads, &HeadCell::maxLogit);
            head.before = std::numeric_limits<double>::quiet_NaN();
            head.sign = analysis::HeadSign::None;
        }
    }
    return all;
}

/// The layer whose ranks are shown: the one that is asked for, that of the first selected head, the first.
QString chosenLayer(const AttentionRequest& request, const QStringList& layers)
{
    if (layers.contains(request.layer) || layers.isEmpty())
        return request.layer;
    for (const ModuleKey& key : request.selection) {
        if (layers.contains(key.name))
            return key.name;
    }
    return layers.front();
}

bool isMeasured(const std::vector<AttentionLayer>& layers)
{
    return std::ranges::any_of(layers, [](const AttentionLayer& layer) {
        return std::ranges::any_of(layer.heads, [](const HeadCell& head) {
            return head.entropy.state >= CellState::Value || head.maxLogit.state >= CellState::Value;
        });
    });
}

Expected<void> readMaps(store::RunReader& reader, const AttentionRequest& request, const series::CancelToken& cancel,
    AttentionAnswer& answer)
{
    auto picture = std::make_shared<AttentionPicture>();
    picture->atStep = request.atStep;
    picture->rank = request.rank;
    picture->axes = request.axes;
    picture->order = request.order;
    picture->isLive = request.curves.isLive;
    const bool isByRank = request.axes == HeadAxes::RankByHead;
    picture->isSpread = request.isSpread && !isByRank;
    const std::vector<Rank> every = ranksOf(*request.catalog, Kind::Attention);
    const bool areAll = isByRank || picture->isSpread;
    Rank own = request.rank;
    if (areAll && !every.empty() && std::find(every.begin(), every.end(), own) == every.end())
        own = every.front();
    const Heads heads = headsOf(request, own);
    for (const LayerRows& layer : heads.layers) {
        answer.layers.append(layer.layer.name);
        picture->names.insert(layer.layer.name);
    }
    const QString only = isByRank ? chosenLayer(request, answer.layers) : QString();
    if (!picture->isSpread) {
        const auto before = stepBefore(reader, heads, request.atStep, cancel);
        if (!before)
            return tl::unexpected(before.error());
        picture->beforeStep = *before;
    }
    std::vector<std::vector<AttentionLayer>> ranks;
    for (const Rank rank : areAll ? every : std::vector { own }) {
        Heads here = rank == own ? heads : headsOf(request, rank);
        if (isByRank)
            std::erase_if(here.layers, [&only](const LayerRows& layer) { return layer.layer.name != only; });
        auto layers = readLayers(reader, keepUsed(std::move(here)), rank, request.atStep, picture->beforeStep);
        if (!layers)
            return tl::unexpected(std::move(layers).error());
        if (!layers->empty())
            ranks.push_back(std::move(*layers));
    }
    // One that ended before the step is no part of a spread.
    picture->ranks = static_cast<int>(std::ranges::count_if(ranks, isMeasured));
    if (picture->isSpread)
        picture->layers = spread(std::move(ranks));
    else
        for (auto& layers : ranks)
            std::move(layers.begin(), layers.end(), std::back_inserter(picture->layers));
    picture->atStep = newestStep(picture->layers).value_or(request.atStep);
    picture->finish(request.values[0]);
    answer.maps = std::move(picture);
    return {};
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
        answer.shown = answer.maps->lowest(kUnasked + 1);
        answer.areAll = answer.shown.size() <= kUnasked;
        answer.shown.resize(std::min(answer.shown.size(), kUnasked));
        colors.resize(answer.shown.size());
        std::iota(colors.begin(), colors.end(), 0);
    }
    curves.selection = answer.shown;
    curves.colors = std::move(colors);
}

/// The smallest and the largest of all heads of the first head's layer, named below the heads; later micro steps of
/// these, which the maps have no cells of their own for, come last.
Expected<CurvePicture> withBands(store::RunReader& reader, CurvePicture picture, const AttentionPicture& maps,
    const CurveRequest& curves, const series::CancelToken& cancel)
{
    const auto later = std::stable_partition(
        picture.series.begin(), picture.series.end(), [](const CurveSeries& one) { return one.row.microStep <= 0; });
    const auto firsts = later == picture.series.begin() ? picture.series.end() : later;
    const auto below = firsts - picture.series.begin(); // these the bands
    std::vector<CurveSeries> all, bands;
    std::set<QString> done;
    for (CurveSeries& one : picture.series) {
        const ModuleKey key = one.row.key;
        const int place = maps.placeOf(key)[0];
        const Stat stat = one.stat;
        const int slot = one.slot;
        if (place >= 0)
            one.row.label = one.row.withMicro(maps.shortText(key));
        const bool isOwn = one.row.rank == curves.rank && !one.isGroup;
        all.push_back(std::move(one));
        if (place < 0 || !isOwn || done.size() >= kBands || !done.insert(key.name).second)
            continue;
        const AttentionLayer& layer = maps.layers[static_cast<std::size_t>(place)];
        if (layer.heads.size() < 2 || layer.heads.size() > kMostInBand)
            continue;
        RowWish wish { Kind::Attention, curves.rank, {}, {}, stat };
        for (const HeadCell& head : layer.heads)
            wish.only.push_back(head.key);
        CurveSeries band;
        for (Row& row : buildRows(*curves.catalog, wish)) {
            auto other = readCurve(reader, std::move(row), stat, curves, cancel);
            if (!other)
                return tl::unexpected(std::move(other).error());
            if (band.isGroup)
                widen(band.result.buckets, other->result.buckets);
            else
                band = std::move(*other);
            band.isGroup = true;
            band.join = 0;
        }
        band.slot = slot;
        const auto heads = static_cast<int>(layer.heads.size());
        band.where = QCoreApplication::translate("AttentionView", "L%1, %n heads", nullptr, heads).arg(layer.number);
        bands.push_back(std::move(band));
    }
    for (CurveSeries& band : bands) // a line of its own begins with a name
        band.row.label = all[static_cast<std::size_t>(below) - 1].row.label;
    all.insert(all.begin() + below, std::move_iterator(bands.begin()), std::move_iterator(bands.end()));
    picture.series = std::move(all);
    return picture;
}

}

Expected<AttentionAnswer> readAttention(
    store::RunReader& reader, const AttentionRequest& request, const series::CancelToken& cancel)
{
    AttentionAnswer answer;
    if (auto read = readMaps(reader, request, cancel, answer); !read)
        return tl::unexpected(std::move(read).error());
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
        const int place = std::max(0, answer.maps->placeOf(answer.shown.front())[0]);
        const AttentionLayer& layer = answer.maps->layers[static_cast<std::size_t>(place)];
        answer.layer = layer.name;
        for (const HeadCell& head : layer.heads)
            strips.only.push_back(head.key);
    }
    if (request.below == BelowMaps::HeadMaps) {
        auto read = readHeadMaps(reader, request.rank, request.atStep, curves.range, request.filter, request.selection,
            [&answer](const ModuleKey& key) { return answer.maps->shortText(key); });
        if (!read)
            return tl::unexpected(std::move(read).error());
        answer.headMaps = std::make_shared<const HeadMapPicture>(std::move(*read));
        return answer;
    }
    answer.belowKey = { request.news, request.below, request.values, request.rank, curves.ranks, answer.shown,
        curves.colors, answer.layer, curves.range, { curves.pixels, strips.plot.width(), strips.plot.height() },
        strips.pixelRatio, strips.theme ? strips.theme->base.rgb() : 0 };
    if (request.last && request.last->belowKey == answer.belowKey) {
        answer.below = request.last->below;
        return answer;
    }
    const auto uniformOf = [&maps = *answer.maps](const ModuleKey& key) {
        const int place = maps.placeOf(key)[0];
        return place < 0 ? 0.0 : maps.layers[static_cast<std::size_t>(place)].uniformEntropy();
    };
    for (std::size_t side = 0; side < answer.below.size(); ++side) {
        const bool isShare = request.values[side] == HeadValue::EntropyShare;
        curves.wholeOf = isShare ? uniformOf : std::function<double(const ModuleKey&)>();
        strips.whole = isShare && !answer.shown.empty() ? uniformOf(answer.shown.front()) : 1;
        curves.stat = strips.stat = statOf(request.values[side]);
        if (request.below == BelowMaps::Curves) {
            auto read = readCurves(reader, curves, cancel).and_then([&](CurvePicture picture) {
                return withBands(reader, std::move(picture), *answer.maps, curves, cancel);
            });
            if (!read)
                return tl::unexpected(std::move(read).error());
            answer.below[side].curves = std::make_shared<const CurvePicture>(std::move(*read));
        } else {
            HeatRequest unpainted = strips;
            unpainted.plot = {};
            auto read = strips.whole > 0 ? readHeat(reader, unpainted, cancel) : HeatPicture();
            if (!read)
                return tl::unexpected(std::move(read).error());
            read->title = headValueText(request.values[side]);
            if (request.values[side] != HeadValue::MaxLogit && !answer.maps->isSpread) {
                read->scale = answer.maps->scaleOf(request.values[side]); // a color says the same as above
                read->markClipped();
            }
            paintCells(*read, strips);
            for (Row& row : read->rows) // of one layer, which stands above them
                row.label = row.withMicro(QStringLiteral("h%1").arg(row.key.slot.head));
            answer.below[side].strips = std::make_shared<const HeatPicture>(std::move(*read));
        }
    }
    return answer;
}

}
