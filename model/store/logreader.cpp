// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/logreader.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <telltale/core/bytes.h>
#include <telltale/store/checkedrow.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

// Parameters of both: 1 the cursor, 2 and 3 whether one rank is wanted and which, 4 to 6 whether steps are wanted and
// which, 7 the kind, 8 the limit.
constexpr const char* kEventColumns
    = "SELECT id, source, rank, step, coalesce(last_step, step), wall_ns, kind, text, json, 0, 0, 0, coalesce(ref, 0), "
      "rule, phase, cause, coalesce(rev, 0), author, severity FROM event WHERE ";
constexpr const char* kDrops
    = "SELECT dropped.id, dropped.source, coalesce(source.rank, -1), dropped.first_step, dropped.last_step, 0, 'drop', "
      "reason, '', class, items, 1 FROM dropped LEFT JOIN source ON source.id = dropped.source WHERE dropped.id > ?1 "
      "AND (?2 = 0 OR source.rank = ?3) AND (?4 = 0 OR (dropped.first_step <= dropped.last_step AND dropped.first_step "
      "<= ?6 AND dropped.last_step >= ?5)) AND ?7 IN ('', 'drop') ORDER BY dropped.id LIMIT ?8";

LogRecord recordOf(CheckedRow& row)
{
    LogRecord record;
    record.source = SourceId { row.any(1) };
    record.rank = Rank { row.number<std::int32_t>(2, -1) };
    record.isDrop = row.any(11) != 0;
    record.dropClass = row.number<std::uint32_t>(9);
    if (record.isDrop) {
        const auto clamped
            = [&row](int column) { return Step { std::clamp(row.any(column), -kFarthestStep, kFarthestStep) }; };
        record.steps = { clamped(3), clamped(4) };
    } else {
        record.id = row.id(0);
        record.steps = { row.step(3), row.step(4) };
        if (record.steps.isEmpty())
            row.refuse();
        record.ref = row.number<std::int64_t>(12);
        if (record.ref >= record.id) // only what is there can be changed: there are no circles
            record.ref = 0;
        record.rule = row.text(13);
        record.phase = row.text(14);
        record.cause = row.text(15);
        record.rev = row.number<std::int64_t>(16);
        record.author = row.text(17);
        record.graveness = row.text(18);
    }
    record.wallNs = row.any(5);
    record.kind = row.text(6);
    record.text = row.text(7);
    record.json = row.text(8);
    if (record.kind == "incident" && record.rank.value < 0 && record.graveness.empty())
        record.graveness = std::exchange(record.cause, {}); // of format 4 or older
    record.items = row.number<std::uint64_t>(10);
    return record;
}

/// The first record of this id with all that was made of it since; nothing where it is not there, or is none.
Expected<std::optional<LogRecord>> readChanged(Statement& rows, std::int64_t id, bool& isWhole)
{
    rows.bind(1, id);
    std::optional<LogRecord> first;
    for (;;) {
        const auto more = rows.step();
        if (!more)
            return tl::unexpected<Error>(more.error());
        if (!*more)
            return first;
        CheckedRow row(rows);
        LogRecord record = recordOf(row);
        if (!row.isGood())
            isWhole = false;
        else if (record.id == id && record.ref == 0)
            first = std::move(record);
        else if (first && first->isChangedBy(record))
            first->fold(record);
    }
}

/// Puts in the place of records that change others what they make of those.
Expected<void> foldChanges(StatementCache& db, const LogFilter& filter, std::vector<LogRecord>& records, bool& isWhole)
{
    if (records.empty())
        return {};
    std::map<std::int64_t, std::optional<LogRecord>> changed;
    for (const LogRecord& record : records) {
        if (record.ref != 0)
            changed.try_emplace(record.ref);
    }
    auto later = db.prepare("SELECT DISTINCT ref FROM event WHERE ref BETWEEN ?1 AND ?2");
    if (later)
        later->bind(1, records.front().id).bind(2, records.back().id);
    auto ok = forEachRow(std::move(later), [&](const Statement& row) {
        const std::int64_t id = row.integer(0);
        const auto at = std::lower_bound(records.begin(), records.end(), id,
            [](const LogRecord& record, std::int64_t wanted) { return record.id < wanted; });
        if (at != records.end() && at->id == id)
            changed.try_emplace(id);
    });
    if (changed.empty() || !ok)
        return ok;
    auto rows = db.prepare(std::string(kEventColumns) + "id = ?1 OR ref = ?1 ORDER BY id");
    if (!rows)
        return tl::unexpected<Error>(std::move(rows.error()));
    for (auto entry = changed.begin(); entry != changed.end(); ++entry) {
        auto read = readChanged(*rows, entry->first, isWhole);
        if (read)
            entry->second = std::move(*read);
        else
            return tl::unexpected<Error>(std::move(read.error()));
    }
    const auto isWanted = [&filter](const StepRange& steps) {
        return !filter.steps || (steps.first <= filter.steps->last && filter.steps->first <= steps.last);
    };
    std::set<std::int64_t> told;
    std::vector<LogRecord> folded;
    for (LogRecord& record : records) {
        const auto entry = changed.find(record.ref == 0 ? record.id : record.ref);
        const LogRecord* first = entry == changed.end() || !entry->second ? nullptr : &*entry->second;
        if (!first || (first->id != record.id && !first->isChangedBy(record)))
            folded.push_back(std::move(record));
        else if (told.insert(first->id).second && isWanted(first->steps))
            folded.push_back(*first);
    }
    records = std::move(folded);
    return {};
}

struct Table {
    const char* what;
    std::string (*page)(const LogFilter&);
    const char* newest;
    std::int64_t LogCursor::*cursor;
};
constexpr Table kTables[] {
    { "the list of events", eventsQuery, "SELECT coalesce(max(id), 0) FROM event", &LogCursor::event },
    { "the list of what was dropped", [](const LogFilter&) { return std::string(kDrops); },
        "SELECT coalesce(max(id), 0) FROM dropped", &LogCursor::drop },
};

Expected<void> readTable(StatementCache& db, const Table& table, LogCursor after, const LogFilter& filter,
    std::size_t limit, LogPage& page, bool& isWhole)
{
    auto rows = db.prepare(table.page(filter));
    if (!rows)
        return tl::unexpected<Error>(std::move(rows.error()));
    rows->bind(1, after.*table.cursor)
        .bind(2, filter.rank ? 1 : 0)
        .bind(3, filter.rank.value_or(Rank {}).value)
        .bind(4, filter.steps ? 1 : 0)
        .bind(5, filter.steps.value_or(StepRange {}).first.value)
        .bind(6, filter.steps.value_or(StepRange {}).last.value)
        .bindText(7, filter.kind)
        .bind(8, static_cast<std::int64_t>(limit));
    std::size_t count = 0;
    for (; count < limit; ++count) {
        const auto more = rows->step();
        if (!more)
            return tl::unexpected<Error>(more.error());
        if (!*more)
            break;
        CheckedRow row(*rows);
        LogRecord record = recordOf(row);
        page.next.*table.cursor = row.any(0);
        if (row.isGood())
            page.records.push_back(std::move(record));
        else
            isWhole = false;
    }
    if (count == limit) {
        page.isLast = false;
        return {};
    }
    // What the filter kept back is not looked at again.
    const auto newest = queryInteger(db.prepare(table.newest));
    if (!newest)
        return tl::unexpected<Error>(newest.error());
    page.next.*table.cursor = *newest;
    return {};
}

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

}

std::string eventsQuery(const LogFilter& filter)
{
    std::string sql = kEventColumns;
    // Fewer records are of a range of steps than of a rank or a kind, so its index is the one that is used: once for
    // the many that are of one step, once for the few that last.
    if (filter.steps)
        sql += "+id > ?1 AND id IN (SELECT id FROM event WHERE last_step IS NULL AND step BETWEEN ?5 AND ?6 AND +id > "
               "?1 UNION ALL SELECT id FROM event WHERE last_step >= ?5 AND step <= ?6 AND +id > ?1) AND (?2 = 0 OR "
               "rank = ?3) AND (?7 = '' OR kind = ?7)";
    else
        sql += std::string("id > ?1") + (filter.rank ? " AND rank = ?3" : "")
            + (filter.kind.empty() ? "" : " AND kind = ?7");
    return sql + " ORDER BY id LIMIT ?8";
}

bool LogRecord::isChangedBy(const LogRecord& later) const
{
    return !isDrop && later.ref == id && later.kind == kind && later.rank == rank && later.steps.first == steps.first;
}

void LogRecord::fold(const LogRecord& later)
{
    isChanged = true;
    changedNs = later.wallNs;
    if (later.steps.count() > 1)
        steps.last = later.steps.last;
    if (later.rev != 0)
        rev = later.rev;
    for (std::string LogRecord::*said : { &LogRecord::text, &LogRecord::json, &LogRecord::rule, &LogRecord::phase,
             &LogRecord::cause, &LogRecord::author, &LogRecord::graveness }) {
        if (!(later.*said).empty() && later.*said != "{}")
            this->*said = later.*said;
    }
}

Severity LogRecord::severity() const
{
    if (kind == "incident")
        return graveness == "critical" ? Severity::Critical
            : graveness == "notice"    ? Severity::Notice
                                       : Severity::Warning;
    if (kind == "anomaly" || kind == "damage")
        return Severity::Critical;
    return kind == "drop" || kind == "gap" || kind == "config_problem" ? Severity::Warning : Severity::Notice;
}

Expected<LogPage> readLog(
    StatementCache& db, LogCursor after, const LogFilter& filter, std::size_t limit, std::vector<std::string>& damage)
{
    LogPage page;
    page.next = after;
    for (const Table& table : kTables) {
        bool isWhole = true;
        auto done = readTable(db, table, after, filter, limit, page, isWhole);
        if (table.cursor == &LogCursor::event) {
            const auto folded = foldChanges(db, filter, page.records, isWhole);
            done = done ? folded : done;
        }
        if (!done && done.error().code != ErrorCode::Damaged)
            return tl::unexpected<Error>(done.error());
        std::string sentence = table.what;
        sentence += done ? " has damaged rows, which are left out" : " cannot be read completely";
        if ((!done || !isWhole) && std::find(damage.begin(), damage.end(), sentence) == damage.end())
            damage.push_back(std::move(sentence));
    }
    return page;
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

// A document is known by its last part: whoever reads on behind it has missed none that was not whole yet.
Expected<std::vector<DocumentInfo>> listBlobs(sqlite3* db, const std::string& kind, std::int64_t after)
{
    auto rows = Statement::prepare(db,
        "SELECT blob.id, coalesce(source.rank, -1), coalesce(source.attempt, 0), blob.name, blob.step FROM blob LEFT "
        "JOIN stream ON stream.id = blob.stream LEFT JOIN source ON source.id = stream.source WHERE blob.id > ?1 AND "
        "blob.kind = ?2 AND blob.part = blob.parts - 1 AND (blob.parts = 1 OR blob.parts = (SELECT count(*) FROM blob "
        "AS one WHERE one.stream = blob.stream AND one.blob_id = blob.blob_id)) ORDER BY blob.id");
    if (!rows)
        return tl::unexpected<Error>(std::move(rows.error()));
    rows->bind(1, after).bindText(2, kind);
    std::vector<DocumentInfo> found;
    for (;;) {
        const auto more = rows->step();
        if (!more)
            return tl::unexpected<Error>(more.error());
        if (!*more)
            return found;
        CheckedRow row(*rows);
        DocumentInfo info;
        info.id = row.id(0);
        info.rank = Rank { row.number<std::int32_t>(1, -1) };
        info.attempt = row.number<int>(2);
        info.name = row.text(3);
        info.step = row.step(4);
        if (row.isGood())
            found.push_back(std::move(info));
    }
}

Expected<std::string> readBlob(sqlite3* db, std::int64_t id)
{
    auto statement = Statement::prepare(db, "SELECT stream, blob_id FROM blob WHERE id = ?1");
    if (!statement)
        return tl::unexpected<Error>(std::move(statement.error()));
    statement->bind(1, id);
    const auto place = findPlace(*statement);
    if (!place)
        return tl::unexpected<Error>(place.error());
    if (!place->exists)
        return failure(ErrorCode::NotFound, "the run has no stored document " + std::to_string(id));
    return assemble(db, *place);
}

}
