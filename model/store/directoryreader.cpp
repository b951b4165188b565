// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/directoryreader.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

#include <telltale/core/bytes.h>
#include <telltale/core/protocolone.h>
#include <telltale/series/opentile.h>
#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/checkedrow.h>
#include <telltale/store/layoutcodec.h>
#include <telltale/store/rowsof.h>
#include <telltale/store/schema.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

/// What the rows of one table say about those of others, and what was read: what was added since the last time.
struct Reading {
    struct Group {
        SourceId source;
        Kind kind = Kind::Unspecified;
        std::size_t place = 0; ///< in the catalog that is read
        std::shared_ptr<const SeriesLayout> layout; ///< null where its own row cannot be read
        std::size_t firstPosition = 0;
        std::vector<bool> taken; ///< lanes
    };

    std::shared_ptr<Catalog> catalog = std::make_shared<Catalog>();
    std::size_t seriesCount = 0; ///< of the layouts
    std::map<std::int64_t, SourceId> sourceOfStream;
    std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const SeriesLayout>> layouts;
    std::unordered_map<GroupId, Group> groups; ///< new ones: a group is stored together with its series
    std::string mark; ///< see DirectoryReader::m_mark

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
    reading.mark += std::to_string(source.id.value) + ':' + std::to_string(static_cast<int>(source.state)) + '\n';
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
    auto layout = crc32c(row.blob(3)) == static_cast<std::uint32_t>(row.any(4))
        ? decodeLayout(row.blob(3))
        : failure(ErrorCode::Damaged, "its checksum is wrong");
    if (!layout || (*layout)->id.value != row.any(2))
        return row.refuse();
    reading.seriesCount += (*layout)->series.size();
    reading.layouts[{ row.any(1), row.any(2) }] = std::move(*layout);
}

void readGroup(CheckedRow& row, Reading& reading)
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

/// The layout has the same in a blob with a checksum: a series that says something else is not what was stored.
bool agree(const SeriesInfo& series, std::string_view slot, const SeriesDesc& desc)
{
    return series.name == desc.name && slot == desc.slot.text() && series.definition == desc.definition
        && series.vppStage == desc.vppStage && series.microStep == desc.microStep && series.form == desc.form
        && series.dtype == desc.dtype && series.numel == desc.numel && series.shardOffset == desc.shardOffset
        && series.shape == desc.shape && series.fullShape == desc.fullShape;
}

void readSeries(CheckedRow& row, Reading& reading)
{
    constexpr int kLeast = std::numeric_limits<int>::min();
    reading.catalog->series.reserve(reading.seriesCount);
    SeriesInfo series;
    series.id = SeriesId { row.id(0) };
    series.source = SourceId { row.id(1) };
    series.kind = row.kind(2);
    series.name = row.text(3);
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
    GroupInfo& info = reading.catalog->groups[of.place];
    const bool isHistogram = info.stats.front() == Stat::Hist;
    const std::size_t width = of.layout ? of.layout->width() : 1;
    series.lane = row.number(15, 0, info.lanes - static_cast<int>(width));
    const auto lane = static_cast<std::size_t>(series.lane);
    if (series.source != of.source || series.kind != of.kind || of.taken[lane] || lane % width != 0
        || (of.layout && !agree(series, row.text(4), of.layout->series[(of.firstPosition + lane) / width])))
        row.refuse();
    if (!row.isGood())
        return;
    // Its text is all that is left of a slot whose layout cannot be read.
    series.slot = of.layout ? of.layout->series[(of.firstPosition + lane) / width].slot
                            : protocolone::slotOf(row.text(4), series.kind, isHistogram);
    const int bin = !of.layout || of.layout->hasBinsAsSeries() ? series.slot.bin : -1;
    if (!of.layout && isHistogram && bin < 0)
        return row.refuse();
    of.taken[lane] = true;
    if (bin >= 0) {
        info.edges = protocolone::edges();
        if (bin > 0)
            return;
        series.slot = {};
    }
    reading.catalog->series.push_back(std::move(series));
}

void readMissing(CheckedRow& row, Reading& reading)
{
    MissingInfo missing { SourceId { row.id(0) }, row.number<std::uint64_t>(1) + 1, row.number<std::uint64_t>(2) };
    if (row.isGood())
        reading.catalog->missing.push_back(missing);
}

/// A table of the directory. What is only appended to has its row's number in front, and asks for those behind ?1.
struct Part {
    const char* what;
    const char* sql;
    void (*read)(CheckedRow&, Reading&);
    bool isAppended = false;
};

constexpr std::array<Part, DirectoryReader::kParts> kParts { {
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

/// What processes produced and neither gave to the store nor counted as dropped: of which steps is not known.
Expected<void> addUnaccounted(sqlite3* db, Catalog& catalog)
{
    const auto state = queryInteger(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key='state'");
    const auto accounts = readAccounts(db, state && *state == static_cast<std::int64_t>(RunState::Live));
    if (!accounts)
        return tl::unexpected<Error>(accounts.error());
    for (const SourceAccount& account : *accounts) {
        const bool isUnknown = !account.isExact && !account.hasSaidBye;
        const char* const reason = !isUnknown
            ? "made and never stored: lost with its process, or still in its spool"
            : "its process ended without a word: how many more it had made is not known";
        const auto add = [&](std::uint32_t dropClass, std::uint64_t items) {
            const auto source = std::find_if(catalog.sources.begin(), catalog.sources.end(),
                [&account](const SourceInfo& candidate) { return candidate.id == account.source; });
            LogRecord record;
            record.kind = "drop";
            record.source = account.source;
            record.rank = source == catalog.sources.end() ? Rank { -1 } : source->rank;
            record.text = reason;
            record.isDrop = true;
            record.dropClass = dropClass;
            record.items = items;
            catalog.unaccounted.push_back(std::move(record));
        };
        if (account.samples.missing > 0 || isUnknown)
            add(dropclass::kTensors, account.samples.missing);
        if (account.scalars.missing > 0)
            add(dropclass::kScalars, account.scalars.missing);
    }
    return {};
}

Expected<void> addChanged(sqlite3* db, Catalog& catalog)
{
    return forEachRow(
        db, "SELECT rank, attempt FROM source WHERE " + sourceWasChanged(), [&catalog](const Statement& row) {
            catalog.damage.push_back("rank " + std::to_string(row.integer(0)) + ", attempt "
                + std::to_string(row.integer(1))
                + ": what the run says of it was changed; its rank, its steps or how it ended may be wrong");
        });
}

/// All of `old` and what `added` has more.
template <typename Row> void putBefore(const std::vector<Row>& old, std::vector<Row>& added)
{
    added.insert(added.begin(), old.begin(), old.end());
}

bool isOfSameRun(const Catalog& a, const Catalog& b)
{
    return a.storeId == b.storeId && a.runKey == b.runKey && a.createdNs == b.createdNs;
}

}

Expected<void> DirectoryReader::refresh(sqlite3* db, bool withSteps)
{
    const auto last = m_last;
    const auto damage = m_damage;
    auto ok = readOn(db, withSteps);
    if (!ok && m_catalog) { // what was read is in no catalog: it is read again
        m_last = last;
        m_damage = damage;
    } else if (!ok) {
        *this = {};
    }
    return ok;
}

Expected<void> DirectoryReader::readOn(sqlite3* db, bool withSteps)
{
    Reading reading;
    for (std::size_t i = 0; i < kParts; ++i) {
        const Part& part = store::kParts[i];
        if (part.isAppended && m_catalog && !isOfSameRun(*m_catalog, *reading.catalog)) {
            *this = {}; // another file lies there
            return readOn(db, withSteps);
        }
        if (!part.isAppended)
            m_damage[i] = {};
        auto rows = Statement::prepare(db, part.sql);
        if (!rows)
            return tl::unexpected<Error>(std::move(rows.error()));
        if (part.isAppended)
            rows->bind(1, m_last[i]);
        for (;;) {
            const auto more = rows->step();
            if (!more && more.error().code != ErrorCode::Damaged)
                return tl::unexpected<Error>(more.error());
            m_damage[i].isCut = !more;
            if (!more || !*more)
                break;
            CheckedRow row(*rows);
            if (part.isAppended) {
                m_last[i] = row.any(0);
                ++m_rowsRead;
            }
            part.read(row, reading);
            m_damage[i].rows += row.isGood() ? 0 : 1;
        }
    }
    Catalog& catalog = *reading.catalog;
    m_sources = catalog.sources;
    for (const MissingInfo& missing : catalog.missing)
        reading.mark += std::to_string(missing.source.value) + '?' + std::to_string(missing.count()) + '\n';
    catalog.damage = damageSentences();
    if (auto ok = addChanged(db, catalog); !ok && ok.error().code != ErrorCode::Damaged)
        return ok;
    for (const std::string& sentence : catalog.damage)
        reading.mark += sentence + '\n';
    const bool isNew = !m_catalog || !catalog.groups.empty() || !catalog.series.empty() || reading.mark != m_mark
        || (withSteps && catalog.steps != m_catalog->steps);
    if (!isNew)
        return {};
    if (auto ok = addUnaccounted(db, catalog); !ok && ok.error().code == ErrorCode::Damaged)
        catalog.damage.emplace_back("what became of the samples cannot be read completely");
    else if (!ok)
        return ok;
    if (m_catalog) {
        putBefore(m_catalog->groups, catalog.groups);
        putBefore(m_catalog->series, catalog.series);
    }
    catalog.rows = indexRows(catalog, m_catalog.get());
    catalog.revision = m_catalog ? m_catalog->revision + 1 : 1;
    m_mark = std::move(reading.mark);
    m_catalog = std::move(reading.catalog);
    return {};
}

std::vector<std::string> DirectoryReader::damageSentences() const
{
    std::vector<std::string> sentences;
    for (std::size_t i = 0; i < kParts; ++i) {
        const std::string what = store::kParts[i].what;
        if (m_damage[i].isCut)
            sentences.push_back(what + " cannot be read completely");
        if (m_damage[i].rows > 0)
            sentences.push_back(what + " has " + std::to_string(m_damage[i].rows)
                + (m_damage[i].rows == 1 ? " damaged row, which is left out" : " damaged rows, which are left out"));
    }
    return sentences;
}

std::shared_ptr<Directories::Shared> Directories::of(const std::string& path)
{
    struct stat info { };
    const bool exists = stat(path.c_str(), &info) == 0;
    const std::uint64_t file = exists ? info.st_ino * 0x9E3779B97F4A7C15u + info.st_dev : 0;
    const std::lock_guard lock(m_mutex);
    const auto it = std::find_if(
        m_known.begin(), m_known.end(), [&](const Known& known) { return known.path == path && known.file == file; });
    if (it != m_known.end()) {
        m_known.splice(m_known.begin(), m_known, it);
    } else {
        m_known.push_front({ path, file, std::make_shared<Shared>() });
        if (m_known.size() > kMost)
            m_known.pop_back();
    }
    return m_known.front().shared;
}

}
