// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/catalogreader.h>

#include <limits>
#include <string_view>
#include <utility>

#include <telltale/core/bytes.h>
#include <telltale/store/layoutcodec.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

std::string stringOf(const Statement& row, int column)
{
    return std::string(row.text(column));
}

template <typename Number> Number numberOf(const Statement& row, int column)
{
    return static_cast<Number>(row.integer(column));
}

void readMeta(const Statement& row, Catalog& catalog)
{
    const std::string_view key = row.text(0);
    if (key == "store_id")
        catalog.storeId = row.text(1);
    else if (key == "run_key")
        catalog.runKey = row.text(1);
    else if (key == "name")
        catalog.name = row.text(1);
    else if (key == "created_ns")
        catalog.createdNs = row.integer(1);
}

void readSource(const Statement& row, Catalog& catalog)
{
    SourceInfo source;
    source.id = SourceId { row.integer(0) };
    source.rank = Rank { numberOf<std::int32_t>(row, 1) };
    source.attempt = numberOf<int>(row, 2);
    source.agentId = row.text(3);
    source.host = row.text(4);
    source.pid = row.integer(5);
    source.device = row.text(6);
    source.framework = row.text(7);
    source.dp = numberOf<int>(row, 8);
    source.tp = numberOf<int>(row, 9);
    source.pp = numberOf<int>(row, 10);
    source.ep = numberOf<int>(row, 11);
    source.firstStep = Step { std::clamp(row.integer(12), -kFarthestStep, kFarthestStep) };
    source.lastStep = Step { std::clamp(row.integer(13), -kFarthestStep, kFarthestStep) };
    source.state = static_cast<SourceState>(std::min<std::int64_t>(row.integer(14), 3));
    if (source.firstStep <= source.lastStep) {
        catalog.steps = catalog.steps.isEmpty() ? StepRange { source.firstStep, source.lastStep }
                                                : StepRange { std::min(catalog.steps.first, source.firstStep),
                                                      std::max(catalog.steps.last, source.lastStep) };
    }
    catalog.sources.push_back(std::move(source));
}

void readGroup(const Statement& row, Catalog& catalog)
{
    GroupInfo group;
    group.id = GroupId { row.integer(0) };
    group.source = SourceId { row.integer(1) };
    group.kind = static_cast<Kind>(row.integer(2));
    for (const char stat : row.blob(3))
        group.stats.push_back(static_cast<Stat>(stat));
    group.seriesCount = numberOf<int>(row, 4);
    catalog.groups.push_back(std::move(group));
}

void readSeries(const Statement& row, Catalog& catalog)
{
    SeriesInfo series;
    series.id = SeriesId { row.integer(0) };
    series.source = SourceId { row.integer(1) };
    series.kind = static_cast<Kind>(row.integer(2));
    series.name = row.text(3);
    series.slot = row.text(4);
    series.vppStage = numberOf<int>(row, 5);
    series.microStep = numberOf<int>(row, 6);
    series.form = numberOf<std::uint32_t>(row, 7);
    series.definition = row.text(8);
    series.shape = decodeShape(row.blob(9));
    series.dtype = static_cast<DType>(row.integer(10));
    series.numel = numberOf<std::uint64_t>(row, 11);
    series.shardOffset = row.integer(12);
    series.fullShape = decodeShape(row.blob(13));
    series.group = GroupId { row.integer(14) };
    series.lane = numberOf<int>(row, 15);
    catalog.series.push_back(std::move(series));
}

void readEvent(const Statement& row, Catalog& catalog)
{
    catalog.events.push_back({ stringOf(row, 0), Rank { numberOf<std::int32_t>(row, 1) }, Step { row.integer(2) },
        row.integer(3), stringOf(row, 4), stringOf(row, 5) });
}

void readDropped(const Statement& row, Catalog& catalog)
{
    catalog.dropped.push_back({ SourceId { row.integer(0) }, numberOf<std::uint32_t>(row, 1),
        { Step { row.integer(2) }, Step { row.integer(3) } }, numberOf<std::uint64_t>(row, 4), stringOf(row, 5) });
}

void readMissing(const Statement& row, Catalog& catalog)
{
    catalog.missing.push_back(
        { SourceId { row.integer(0) }, numberOf<std::uint64_t>(row, 1) + 1, numberOf<std::uint64_t>(row, 2) });
}

struct Part {
    const char* what;
    const char* sql;
    void (*read)(const Statement&, Catalog&);
};

constexpr Part kParts[] {
    { "the run's own data", "SELECT key, value FROM meta", readMeta },
    { "the list of ranks",
        "SELECT id, rank, attempt, agent_id, host, pid, device, framework, dp, tp, pp, ep, coalesce(first_step, 0), "
        "coalesce(last_step, -1), state FROM source ORDER BY rank, attempt",
        readSource },
    { "the list of groups", "SELECT id, source, kind, stats, series FROM grp ORDER BY id", readGroup },
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

}

Expected<std::shared_ptr<Catalog>> readCatalog(sqlite3* db)
{
    auto catalog = std::make_shared<Catalog>();
    for (const Part& part : kParts) {
        const auto done
            = forEachRow(db, part.sql, [&part, &catalog](const Statement& row) { part.read(row, *catalog); });
        if (!done && done.error().code != ErrorCode::Damaged)
            return tl::unexpected<Error>(done.error());
        if (!done)
            catalog->damage.push_back(std::string(part.what) + " cannot be read completely");
    }
    auto structure = readStructure(db);
    if (structure)
        catalog->structureJson = std::move(*structure);
    else if (structure.error().code == ErrorCode::Damaged)
        catalog->damage.emplace_back("the module structure cannot be read");
    else if (structure.error().code != ErrorCode::NotFound)
        return tl::unexpected<Error>(structure.error());
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
                text += stringOf(row, i) + '|';
            print = std::hash<std::string> {}(text);
        });
    if (!done)
        return tl::unexpected<Error>(done.error());
    return print;
}

Expected<std::vector<SourceSteps>> readSourceSteps(sqlite3* db)
{
    std::vector<SourceSteps> steps;
    const auto done = forEachRow(
        db, "SELECT id, coalesce(first_step, 0), coalesce(last_step, -1) FROM source", [&steps](const Statement& row) {
            steps.push_back({ SourceId { row.integer(0) }, { Step { row.integer(1) }, Step { row.integer(2) } } });
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
