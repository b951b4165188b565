// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/catalogreader.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <telltale/core/bytes.h>
#include <telltale/series/opentile.h>
#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/checkedrow.h>
#include <telltale/store/layoutcodec.h>
#include <telltale/store/rowsof.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

/// What the rows of one table say about those of others, while the catalogue is read.
struct Reading {
    struct Group {
        SourceId source;
        Kind kind = Kind::Unspecified;
        int series = 0;
        std::shared_ptr<const SeriesLayout> layout; ///< null where its own row cannot be read
        std::size_t firstPosition = 0;
        std::vector<bool> taken; ///< lanes
    };

    std::shared_ptr<Catalog> catalog = std::make_shared<Catalog>();
    std::map<std::int64_t, SourceId> sourceOfStream;
    std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const SeriesLayout>> layouts;
    std::unordered_map<GroupId, Group> groups;

    bool hasSource(SourceId id) const
    {
        return std::any_of(catalog->sources.begin(), catalog->sources.end(),
            [id](const SourceInfo& source) { return source.id == id; });
    }
};

void readMeta(CheckedRow& row, Reading& reading)
{
    Catalog& catalog = *reading.catalog;
    const std::string key = row.text(0);
    if (key == "store_id")
        catalog.storeId = row.text(1);
    else if (key == "run_key")
        catalog.runKey = row.text(1);
    else if (key == "name")
        catalog.name = row.text(1);
    else if (key == "created_ns")
        catalog.createdNs = row.any(1);
}

void readSource(CheckedRow& row, Reading& reading)
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
    catalog.sources.push_back(std::move(source));
}

void readStream(CheckedRow& row, Reading& reading)
{
    const std::int64_t id = row.id(0);
    const SourceId source { row.id(1) };
    if (row.isGood())
        reading.sourceOfStream[id] = source;
}

void readLayout(CheckedRow& row, Reading& reading)
{
    auto layout = crc32c(row.blob(2)) == static_cast<std::uint32_t>(row.any(3))
        ? decodeLayout(row.blob(2))
        : failure(ErrorCode::Damaged, "its checksum is wrong");
    if (layout && (*layout)->id.value == row.any(1))
        reading.layouts[{ row.any(0), row.any(1) }] = std::move(*layout);
    else
        row.refuse();
}

void readGroup(CheckedRow& row, Reading& reading)
{
    GroupInfo group;
    group.id = GroupId { row.id(0) };
    group.source = SourceId { row.id(1) };
    group.kind = row.kind(2);
    for (const char stat : row.blob(3))
        group.stats.push_back(static_cast<Stat>(stat));
    group.seriesCount = row.number(4, 1, series::kTileSeries);
    const auto stream = reading.sourceOfStream.find(row.any(5));
    const auto layout = reading.layouts.find({ row.any(5), row.any(6) });
    const auto first = static_cast<std::size_t>(row.number(7, 0, 1 << 20));
    const bool isKnown = std::all_of(group.stats.begin(), group.stats.end(), isStoredStat) && !group.stats.empty()
        && reading.hasSource(group.source)
        && (stream == reading.sourceOfStream.end() || stream->second == group.source);
    const bool fits = layout == reading.layouts.end()
        || (layout->second->kind == group.kind && layout->second->stats == group.stats
            && first + static_cast<std::size_t>(group.seriesCount) <= layout->second->series.size());
    if (!isKnown || !fits)
        row.refuse();
    if (!row.isGood())
        return;
    reading.groups[group.id]
        = { group.source, group.kind, group.seriesCount, layout == reading.layouts.end() ? nullptr : layout->second,
              first, std::vector<bool>(static_cast<std::size_t>(group.seriesCount)) };
    reading.catalog->groups.push_back(std::move(group));
}

/// The layout has the same in a blob with a checksum: a series that says something else is not what was stored.
bool agree(const SeriesInfo& series, const SeriesDesc& desc)
{
    return series.name == desc.name && series.slot == desc.slot && series.definition == desc.definition
        && series.vppStage == desc.vppStage && series.microStep == desc.microStep && series.form == desc.form
        && series.dtype == desc.dtype && series.numel == desc.numel && series.shardOffset == desc.shardOffset
        && series.shape == desc.shape && series.fullShape == desc.fullShape;
}

void readSeries(CheckedRow& row, Reading& reading)
{
    constexpr int kLeast = std::numeric_limits<int>::min();
    SeriesInfo series;
    series.id = SeriesId { row.id(0) };
    series.source = SourceId { row.id(1) };
    series.kind = row.kind(2);
    series.name = row.text(3);
    series.slot = row.text(4);
    series.vppStage = row.number<int>(5, kLeast);
    series.microStep = row.number<int>(6, kLeast);
    series.form = row.number<std::uint32_t>(7);
    series.definition = row.text(8);
    series.shape = decodeShape(row.blob(9));
    series.dtype = row.dtype(10);
    series.numel = static_cast<std::uint64_t>(row.any(11));
    series.shardOffset = row.any(12);
    series.fullShape = decodeShape(row.blob(13));
    series.group = GroupId { row.id(14) };
    const auto group = reading.groups.find(series.group);
    if (group == reading.groups.end())
        return row.refuse();
    Reading::Group& of = group->second;
    series.lane = row.number(15, 0, of.series - 1);
    const auto lane = static_cast<std::size_t>(series.lane);
    if (series.source != of.source || series.kind != of.kind || of.taken[lane]
        || (of.layout && !agree(series, of.layout->series[of.firstPosition + lane])))
        row.refuse();
    if (!row.isGood())
        return;
    of.taken[lane] = true;
    reading.catalog->series.push_back(std::move(series));
}

void readEvent(CheckedRow& row, Reading& reading)
{
    EventInfo event { row.text(0), Rank { row.number<std::int32_t>(1, -1) }, row.step(2), row.any(3), row.text(4),
        row.text(5) };
    if (row.isGood())
        reading.catalog->events.push_back(std::move(event));
}

void readDropped(CheckedRow& row, Reading& reading)
{
    const auto clamped
        = [&row](int column) { return Step { std::clamp(row.any(column), -kFarthestStep, kFarthestStep) }; };
    DroppedInfo dropped { SourceId { row.id(0) }, row.number<std::uint32_t>(1), { clamped(2), clamped(3) },
        row.number<std::uint64_t>(4), row.text(5) };
    if (row.isGood())
        reading.catalog->dropped.push_back(std::move(dropped));
}

void readMissing(CheckedRow& row, Reading& reading)
{
    MissingInfo missing { SourceId { row.id(0) }, row.number<std::uint64_t>(1) + 1, row.number<std::uint64_t>(2) };
    if (row.isGood())
        reading.catalog->missing.push_back(missing);
}

struct Part {
    const char* what;
    const char* sql;
    void (*read)(CheckedRow&, Reading&);
};

constexpr Part kParts[] {
    { "the run's own data", "SELECT key, value FROM meta", readMeta },
    { "the list of ranks",
        "SELECT id, rank, attempt, agent_id, host, pid, device, framework, dp, tp, pp, ep, coalesce(first_step, 0), "
        "coalesce(last_step, -1), state FROM source ORDER BY rank, attempt",
        readSource },
    { "the list of streams", "SELECT id, source FROM stream", readStream },
    { "the list of layouts", "SELECT stream, id, bytes, crc FROM layout", readLayout },
    { "the list of groups",
        "SELECT id, source, kind, stats, series, stream, layout, first_position FROM grp ORDER BY id", readGroup },
    { "the list of series",
        "SELECT id, source, kind, name, slot, vpp_stage, micro_step, form, definition, shape, dtype, numel, "
        "shard_offset, full_shape, grp, lane FROM series ORDER BY id",
        readSeries },
    { "the events", "SELECT kind, rank, step, wall_ns, text, json FROM event ORDER BY id", readEvent },
    { "the list of what was dropped",
        "SELECT source, class, first_step, last_step, items, reason FROM dropped ORDER BY id", readDropped },
    { "the list of what never came",
        "SELECT source.id, durable_seq, CAST(meta.value AS INTEGER) FROM stream JOIN meta ON meta.key = 'told_seq.' || "
        "stream.id JOIN source ON source.id = stream.source WHERE source.state <> 0 AND CAST(meta.value AS INTEGER) > "
        "durable_seq ORDER BY source.rank, source.attempt",
        readMissing },
};

struct BlobPlace {
    std::int64_t stream = 0;
    std::string id;
    bool exists = false;
};

Expected<std::string> assemble(sqlite3* db, const BlobPlace& place)
{
    auto parts = Statement::prepare(
        db, "SELECT part, parts, crc, data FROM blob WHERE stream=?1 AND blob_id=?2 ORDER BY part");
    if (!parts)
        return tl::unexpected<Error>(std::move(parts.error()));
    parts->bind(1, place.stream).bindText(2, place.id);
    std::string bytes;
    std::int64_t expected = 0;
    std::int64_t total = 1;
    for (;;) {
        const auto row = parts->step();
        if (!row)
            return tl::unexpected<Error>(row.error());
        if (!*row)
            break;
        total = parts->integer(1);
        const std::string_view data = parts->blob(3);
        if (parts->integer(0) != expected || crc32c(data) != static_cast<std::uint32_t>(parts->integer(2)))
            return failure(ErrorCode::Damaged, "the stored document " + place.id + " is damaged");
        bytes += data;
        ++expected;
    }
    if (expected != total)
        return failure(ErrorCode::NotFound, "the stored document " + place.id + " is not complete");
    return bytes;
}

Expected<BlobPlace> findPlace(Statement& statement)
{
    BlobPlace place;
    const auto row = statement.step();
    if (!row)
        return tl::unexpected<Error>(row.error());
    if (*row) {
        place = { statement.integer(0), std::string(statement.text(1)), true };
        statement.reset();
    }
    return place;
}

Expected<std::string> readStructure(sqlite3* db)
{
    auto statement = Statement::prepare(db,
        "SELECT blob.stream, blob.blob_id FROM blob JOIN stream ON stream.id=blob.stream JOIN source ON "
        "source.id=stream.source WHERE blob.kind='structure' AND blob.part=0 ORDER BY source.rank, source.attempt "
        "DESC, "
        "blob.id DESC LIMIT 1");
    if (!statement)
        return tl::unexpected<Error>(std::move(statement.error()));
    const auto place = findPlace(*statement);
    if (!place)
        return tl::unexpected<Error>(place.error());
    return place->exists ? assemble(db, *place) : std::string();
}

/// What processes produced and neither gave to the store nor counted as dropped stands among the drops: of which steps
/// is not known.
Expected<void> addMissing(sqlite3* db, Catalog& catalog)
{
    const auto state = queryInteger(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key='state'");
    const auto accounts = readAccounts(db, state && *state == static_cast<std::int64_t>(RunState::Live));
    if (!accounts)
        return tl::unexpected<Error>(accounts.error());
    for (const SourceAccount& account : *accounts) {
        const char* const reason = account.isExact
            ? "made and never stored: lost with its process, or still in its spool"
            : "at least: its process ended without a word, how many more it had made is not known";
        if (account.samples.missing > 0 || !account.isExact)
            catalog.dropped.push_back({ account.source, dropclass::kTensors, {}, account.samples.missing, reason });
        if (account.scalars.missing > 0)
            catalog.dropped.push_back({ account.source, dropclass::kScalars, {}, account.scalars.missing, reason });
    }
    return {};
}

}

Expected<std::shared_ptr<Catalog>> readCatalog(sqlite3* db)
{
    Reading reading;
    const auto& catalog = reading.catalog;
    for (const Part& part : kParts) {
        std::size_t bad = 0;
        const auto done = forEachRow(db, part.sql, [&](const Statement& statement) {
            CheckedRow row(statement);
            part.read(row, reading);
            bad += row.isGood() ? 0 : 1;
        });
        if (!done && done.error().code != ErrorCode::Damaged)
            return tl::unexpected<Error>(done.error());
        if (!done)
            catalog->damage.push_back(std::string(part.what) + " cannot be read completely");
        if (bad > 0)
            catalog->damage.push_back(std::string(part.what) + " has " + std::to_string(bad)
                + (bad == 1 ? " damaged row, which is left out" : " damaged rows, which are left out"));
    }
    if (auto ok = addMissing(db, *catalog); !ok && ok.error().code == ErrorCode::Damaged)
        catalog->damage.emplace_back("what became of the samples cannot be read completely");
    else if (!ok)
        return tl::unexpected<Error>(ok.error());
    auto structure = readStructure(db);
    if (structure)
        catalog->structureJson = std::move(*structure);
    else if (structure.error().code == ErrorCode::Damaged)
        catalog->damage.emplace_back("the module structure cannot be read");
    else if (structure.error().code != ErrorCode::NotFound)
        return tl::unexpected<Error>(structure.error());
    catalog->rows = indexRows(*catalog);
    return catalog;
}

Expected<std::uint64_t> catalogFingerprint(sqlite3* db)
{
    std::uint64_t print = 0;
    const auto done = forEachRow(db,
        "SELECT coalesce((SELECT max(id) FROM source), 0), coalesce((SELECT max(id) FROM series), 0), coalesce((SELECT "
        "max(id) FROM event), 0), coalesce((SELECT max(id) FROM dropped), 0), coalesce((SELECT max(id) FROM blob), "
        "0), (SELECT total(state) FROM source), (SELECT hex(value) FROM meta WHERE key='name')",
        [&print](const Statement& row) {
            std::string text;
            for (int i = 0; i < 7; ++i)
                text.append(row.text(i)) += '|';
            print = std::hash<std::string> {}(text);
        });
    if (!done)
        return tl::unexpected<Error>(done.error());
    return print;
}

Expected<std::vector<SourceSteps>> readSourceSteps(sqlite3* db)
{
    std::vector<SourceSteps> steps;
    const auto done = forEachRow(db, "SELECT id, coalesce(first_step, 0), coalesce(last_step, -1) FROM source",
        [&steps](const Statement& statement) {
            CheckedRow row(statement);
            const SourceSteps source { SourceId { row.id(0) }, { row.step(1), row.step(2) } };
            if (row.isGood())
                steps.push_back(source);
        });
    if (!done)
        return tl::unexpected<Error>(done.error());
    return steps;
}

Expected<std::string> readBlob(sqlite3* db, const std::string& kind, const std::string& name, Step step)
{
    auto statement = Statement::prepare(db,
        "SELECT stream, blob_id FROM blob WHERE kind=?1 AND (?2='' OR name=?2) AND step<=?3 AND part=0 ORDER BY step "
        "DESC, id DESC LIMIT 1");
    if (!statement)
        return tl::unexpected<Error>(std::move(statement.error()));
    statement->bindText(1, kind).bindText(2, name).bind(3, step.value);
    const auto place = findPlace(*statement);
    if (!place)
        return tl::unexpected<Error>(place.error());
    if (!place->exists)
        return failure(ErrorCode::NotFound, "the run has no stored " + kind + (name.empty() ? "" : " \"" + name + '"'));
    return assemble(db, *place);
}

}
