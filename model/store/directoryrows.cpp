// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/directoryrows.h>

#include <limits>
#include <string_view>

#include <telltale/core/bytes.h>
#include <telltale/core/protocolone.h>
#include <telltale/series/opentile.h>
#include <telltale/store/layoutcodec.h>

namespace telltale::store {
namespace {

void readMeta(CheckedRow& row, DirectoryReading& reading)
{
    Catalog& catalog = *reading.catalog;
    const std::string key = row.text(0);
    if (key == "name" || key == "state")
        reading.mark += key + '=' + row.text(1) + '\n';
    if (key == "store_id")
        catalog.storeId = row.text(1);
    else if (key == "run_key")
        catalog.runKey = row.text(1);
    else if (key == "name")
        catalog.name = row.text(1);
    else if (key == "created_ns")
        catalog.createdNs = row.any(1);
}

void readSource(CheckedRow& row, DirectoryReading& reading)
{
    Catalog& catalog = *reading.catalog;
    SourceInfo source;
    source.id = SourceId { row.id(0) };
    source.rank = Rank { row.number<std::int32_t>(1) };
    source.attempt = row.number<int>(2);
    source.agentId = row.text(3);
    source.host = row.text(4);
    source.pid = row.any(5);
    source.device = row.text(6);
    source.framework = row.text(7);
    source.dp = row.number<int>(8, -1);
    source.tp = row.number<int>(9, -1);
    source.pp = row.number<int>(10, -1);
    source.ep = row.number<int>(11, -1);
    source.firstStep = row.step(12);
    source.lastStep = row.step(13);
    source.state = static_cast<SourceState>(row.number(14, 0, static_cast<int>(SourceState::Lost)));
    if (!row.isGood())
        return;
    if (source.firstStep <= source.lastStep) {
        catalog.steps = catalog.steps.isEmpty() ? StepRange { source.firstStep, source.lastStep }
                                                : StepRange { std::min(catalog.steps.first, source.firstStep),
                                                      std::max(catalog.steps.last, source.lastStep) };
    }
    reading.mark += std::to_string(source.id.value) + ':' + std::to_string(static_cast<int>(source.state)) + '\n';
    catalog.sources.push_back(std::move(source));
}

void readStream(CheckedRow& row, DirectoryReading& reading)
{
    const std::int64_t id = row.id(0);
    const SourceId source { row.id(1) };
    if (row.isGood())
        reading.sourceOfStream[id] = source;
}

void readLayout(CheckedRow& row, DirectoryReading& reading)
{
    auto layout = crc32c(row.blob(3)) == static_cast<std::uint32_t>(row.any(4))
        ? decodeLayout(row.blob(3))
        : failure(ErrorCode::Damaged, "its checksum is wrong");
    if (!layout || (*layout)->id.value != row.any(2))
        return row.refuse();
    reading.seriesCount += (*layout)->series.size();
    reading.layouts[{ row.any(1), row.any(2) }] = std::move(*layout);
}

void readGroup(CheckedRow& row, DirectoryReading& reading)
{
    GroupInfo group;
    group.id = GroupId { row.id(0) };
    group.source = SourceId { row.id(1) };
    group.kind = row.kind(2);
    for (const char stat : row.blob(3))
        group.stats.push_back(static_cast<Stat>(stat));
    group.lanes = row.number(4, 1, series::kTileSeries);
    const auto stream = reading.sourceOfStream.find(row.any(5));
    const auto layout = reading.layouts.find({ row.any(5), row.any(6) });
    const auto first = static_cast<std::size_t>(row.number(7, 0, 1 << 20));
    const bool isKnown = std::all_of(group.stats.begin(), group.stats.end(), isStoredStat) && !group.stats.empty()
        && reading.hasSource(group.source)
        && (stream == reading.sourceOfStream.end() || stream->second == group.source);
    const bool fits = layout == reading.layouts.end()
        || (layout->second->kind == group.kind && layout->second->stats == group.stats
            && first % layout->second->width() == 0
            && static_cast<std::size_t>(group.lanes) % layout->second->width() == 0
            && first + static_cast<std::size_t>(group.lanes) <= layout->second->cells());
    if (!isKnown || !fits)
        row.refuse();
    if (!row.isGood())
        return;
    const auto of = layout == reading.layouts.end() ? nullptr : layout->second;
    if (of && !of->edges.empty())
        group.edges = { of, &of->edges };
    reading.groups[group.id] = { group.source, group.kind, reading.catalog->groups.size(), of, first,
        std::vector<bool>(static_cast<std::size_t>(group.lanes)) };
    reading.catalog->groups.push_back(std::move(group));
}

bool isShape(std::string_view bytes, const std::vector<std::int64_t>& shape)
{
    return bytes == std::string_view(reinterpret_cast<const char*>(shape.data()), shape.size() * sizeof(shape[0]));
}

/// The layout has the same in a blob with a checksum: a series that says something else is not what was stored.
/// Compared in place: of a large model, making each series from its row takes longer than all else that is read.
bool agree(const CheckedRow& row, const SeriesDesc& desc)
{
    return row.blob(3) == desc.name && row.blob(4) == desc.slot.text() && row.is(5, desc.vppStage)
        && row.is(6, desc.microStep) && row.is(7, desc.form) && row.blob(8) == desc.definition
        && isShape(row.blob(9), desc.shape) && row.is(10, static_cast<std::int64_t>(desc.dtype))
        && row.any(11) == static_cast<std::int64_t>(desc.numel) && row.any(12) == desc.shardOffset
        && isShape(row.blob(13), desc.fullShape);
}

/// Its text is all that is left of a slot whose layout cannot be read.
SeriesDesc readDesc(CheckedRow& row, Kind kind, bool isHistogram)
{
    constexpr int kLeast = std::numeric_limits<int>::min();
    SeriesDesc desc;
    desc.name = row.text(3);
    desc.slot = protocolone::slotOf(row.text(4), kind, isHistogram);
    desc.vppStage = row.number<int>(5, kLeast);
    desc.microStep = row.number<int>(6, kLeast);
    desc.form = row.number<std::uint32_t>(7);
    desc.definition = row.text(8);
    desc.shape = decodeShape(row.blob(9));
    desc.dtype = row.dtype(10);
    desc.numel = static_cast<std::uint64_t>(row.any(11));
    desc.shardOffset = row.any(12);
    desc.fullShape = decodeShape(row.blob(13));
    return desc;
}

void readSeries(CheckedRow& row, DirectoryReading& reading)
{
    reading.catalog->series.reserve(reading.seriesCount);
    SeriesInfo series;
    series.id = SeriesId { row.id(0) };
    series.source = SourceId { row.id(1) };
    series.kind = row.kind(2);
    series.group = GroupId { row.id(14) };
    const auto group = reading.groups.find(series.group);
    if (group == reading.groups.end())
        return row.refuse();
    DirectoryReading::Group& of = group->second;
    GroupInfo& info = reading.catalog->groups[of.place];
    const bool isHistogram = info.stats.front() == Stat::Hist;
    const std::size_t width = of.layout ? of.layout->width() : 1;
    series.lane = row.number(15, 0, info.lanes - static_cast<int>(width));
    const auto lane = static_cast<std::size_t>(series.lane);
    if (series.source != of.source || series.kind != of.kind || of.taken[lane] || lane % width != 0)
        row.refuse();
    if (of.layout)
        series.desc = { of.layout, &of.layout->series[(of.firstPosition + lane) / width] };
    else
        series.desc = std::make_shared<const SeriesDesc>(readDesc(row, series.kind, isHistogram));
    if (of.layout && !agree(row, *series.desc))
        row.refuse();
    if (!row.isGood())
        return;
    const int bin = !of.layout || of.layout->hasBinsAsSeries() ? series.desc->slot.bin : -1;
    if (!of.layout && isHistogram && bin < 0)
        return row.refuse();
    of.taken[lane] = true;
    if (bin >= 0) {
        info.edges = protocolone::edges();
        if (bin > 0)
            return;
        SeriesDesc whole = *series.desc;
        whole.slot = {};
        series.desc = std::make_shared<const SeriesDesc>(std::move(whole));
    }
    reading.catalog->series.push_back(std::move(series));
}

void readMissing(CheckedRow& row, DirectoryReading& reading)
{
    MissingInfo missing { SourceId { row.id(0) }, row.number<std::uint64_t>(1) + 1, row.number<std::uint64_t>(2) };
    if (row.isGood())
        reading.catalog->missing.push_back(missing);
}

constexpr std::array<DirectoryPart, DirectoryReader::kParts> kParts { {
    { "the run's own data", "SELECT key, value FROM meta", readMeta },
    { "the list of ranks",
        "SELECT id, rank, attempt, agent_id, host, pid, device, framework, dp, tp, pp, ep, coalesce(first_step, 0), "
        "coalesce(last_step, -1), state FROM source ORDER BY rank, attempt",
        readSource },
    { "the list of streams", "SELECT id, source FROM stream", readStream },
    { "the list of layouts", "SELECT rowid, stream, id, bytes, crc FROM layout WHERE rowid > ?1 ORDER BY rowid",
        readLayout, true },
    { "the list of groups",
        "SELECT id, source, kind, stats, series, stream, layout, first_position FROM grp WHERE id > ?1 ORDER BY id",
        readGroup, true },
    { "the list of series",
        "SELECT id, source, kind, name, slot, vpp_stage, micro_step, form, definition, shape, dtype, numel, "
        "shard_offset, full_shape, grp, lane FROM series WHERE id > ?1 ORDER BY id",
        readSeries, true },
    { "the list of what never came",
        "SELECT source.id, durable_seq, CAST(meta.value AS INTEGER) FROM stream JOIN meta ON meta.key = 'told_seq.' || "
        "stream.id JOIN source ON source.id = stream.source WHERE source.state <> 0 AND CAST(meta.value AS INTEGER) > "
        "durable_seq ORDER BY source.rank, source.attempt",
        readMissing },
} };

}

const std::array<DirectoryPart, DirectoryReader::kParts>& directoryParts()
{
    return kParts;
}

}
