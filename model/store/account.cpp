// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/account.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include <telltale/store/capsulefile.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runstore.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

std::uint64_t unsignedOf(const Statement& row, int column)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(column), 0));
}

Balance balance(std::uint64_t stored, std::uint64_t dropped, std::uint64_t announced, bool isRunning, bool isFinal)
{
    const std::uint64_t known = stored + dropped;
    Balance out { std::max(announced, known), stored, dropped, 0, 0 };
    out.missing = isRunning ? 0 : out.produced - known;
    out.beyond = isFinal ? out.produced - announced : 0;
    return out;
}

}

std::string accountKey(std::int64_t stream)
{
    return "account." + std::to_string(stream);
}

std::string StreamAccount::text() const
{
    std::string out;
    for (const std::uint64_t number :
        { samples, scalars, produced.samples, produced.scalars, std::uint64_t { produced.isFinal ? 1u : 0u } })
        out += std::to_string(number) + ' ';
    return out;
}

StreamAccount StreamAccount::parse(std::string_view text)
{
    std::array<std::uint64_t, 5> numbers {};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::uint64_t& number : numbers) {
        const auto [next, error] = std::from_chars(at, end, number);
        at = error == std::errc {} && next < end ? next + 1 : next;
    }
    return { numbers[0], numbers[1], { numbers[2], numbers[3], numbers[4] == 1 } };
}

Balance& Balance::operator+=(const Balance& other)
{
    produced += other.produced;
    stored += other.stored;
    dropped += other.dropped;
    missing += other.missing;
    beyond += other.beyond;
    return *this;
}

Expected<std::vector<SourceAccount>> readAccounts(sqlite3* db, bool isLive)
{
    std::vector<SourceAccount> accounts;
    // `dropped` is of the source; a source has one stream.
    const std::string sql = fmt::format(
        "SELECT source.id, source.state, meta.value, "
        "(SELECT CAST(total(items) AS INTEGER) FROM dropped WHERE dropped.source = source.id AND class IN (2, 3)), "
        "(SELECT CAST(total(items) AS INTEGER) FROM dropped WHERE dropped.source = source.id AND class = 1), "
        "EXISTS(SELECT 1 FROM dropped WHERE dropped.source = source.id AND instr(reason, '{}') > 0) FROM stream "
        "JOIN meta ON meta.key = 'account.' || stream.id JOIN source ON source.id = stream.source ORDER BY "
        "source.rank, source.attempt",
        kAtLeastSoMany);
    const auto done = forEachRow(db, sql, [&](const Statement& row) {
        const auto state = static_cast<SourceState>(row.integer(1));
        const StreamAccount account = StreamAccount::parse(row.text(2));
        const bool hasSaidBye = state == SourceState::Finished || state == SourceState::Failed;
        // While the run is open a process that is out of reach may come back.
        const bool isRunning = isLive && !hasSaidBye && !account.produced.isFinal;
        SourceAccount out;
        out.source = SourceId { row.integer(0) };
        const Produced& announced = account.produced;
        out.samples = balance(account.samples, unsignedOf(row, 3), announced.samples, isRunning, announced.isFinal);
        out.scalars = balance(account.scalars, unsignedOf(row, 4), announced.scalars, isRunning, announced.isFinal);
        out.hasSaidBye = hasSaidBye;
        out.isExact = isRunning || account.produced.isFinal || (hasSaidBye && row.integer(5) == 0);
        accounts.push_back(out);
    });
    if (!done)
        return tl::unexpected<Error>(done.error());
    return accounts;
}

Expected<std::vector<SourceAccount>> CapsuleStore::accounts(const RunLocator& run, bool isLive) const
{
    const auto db = openForReading(run.text());
    if (!db)
        return tl::unexpected<Error>(db.error());
    return readAccounts(db->get(), isLive);
}

}
