// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/rowsalvage.h>

#include <algorithm>
#include <vector>

namespace telltale::store {
namespace {

constexpr std::uint64_t kRowsBetween = 64; ///< two looks at whether to go on
constexpr std::int64_t kFarthestKey = std::int64_t { 1 } << 48;

Expected<std::vector<std::string>> columnsOf(sqlite3* db, const std::string& table)
{
    std::vector<std::string> columns;
    auto ok = forEachRow(db, "SELECT name FROM pragma_table_info('" + table + "')",
        [&columns](const Statement& row) { columns.emplace_back(row.text(0)); });
    return ok ? Expected<std::vector<std::string>>(std::move(columns)) : tl::unexpected<Error>(std::move(ok.error()));
}

/// What can be asked of a table that may end in an error anywhere.
struct BrokenTable {
    Statement rows; ///< those from key ?1 on, the key behind all columns
    Statement probe; ///< the key of the first of them

    /// The first key from `key` on; nothing where it cannot be read, kFarthestKey behind the last.
    std::optional<std::int64_t> keyFrom(std::int64_t key)
    {
        const auto more = probe.bind(1, key).step();
        if (!more)
            return {};
        const std::int64_t found = *more ? probe.integer(0) : kFarthestKey;
        probe.reset();
        return found < key ? std::nullopt : std::optional(found);
    }
    /// The first key behind `last` from which reading can go on: what lies between cannot be read.
    std::int64_t goOnBehind(std::int64_t last)
    {
        std::int64_t bad = last + 1;
        std::optional<std::int64_t> good;
        for (std::int64_t far = 1; !good && bad < kFarthestKey; far *= 2) {
            good = keyFrom(last + far);
            if (!good)
                bad = last + far;
        }
        std::int64_t end = good.value_or(kFarthestKey);
        while (end - bad > 1) {
            const std::int64_t middle = bad + (end - bad) / 2;
            if (const auto found = keyFrom(middle); found && *found <= end)
                end = *found < end ? *found : middle;
            else
                bad = middle;
        }
        return keyFrom(end).value_or(kFarthestKey);
    }
};

/// `meta` has no numbers: its keys are the texts that every capsule has, and a few more.
Expected<SalvagedRows> salvageTexts(sqlite3* from, Statement& insert)
{
    SalvagedRows result;
    for (const char* order : { "", " ORDER BY key DESC" }) {
        auto rows = Statement::prepare(from, std::string("SELECT key, value FROM meta") + order);
        if (!rows)
            return tl::unexpected<Error>(std::move(rows.error()));
        for (;;) {
            const auto more = rows->step();
            if (more && !*more)
                return result;
            if (!more)
                break;
            insert.bindFrom(1, *rows, 0).bindFrom(2, *rows, 1);
            result.rows += insert.run() ? 1 : 0;
        }
        ++result.stretches; // whatever is read from the other end was behind it
    }
    result.stretches = 1;
    return result;
}

}

Expected<SalvagedRows> salvageRows(sqlite3* from, sqlite3* to, const std::string& table, const Progress& progress)
{
    const auto columns = columnsOf(to, table);
    if (!columns)
        return tl::unexpected<Error>(columns.error());
    std::string names, places;
    for (const std::string& column : *columns) {
        names += (names.empty() ? "" : ", ") + column;
        places += places.empty() ? "?" : ", ?";
    }
    auto insert = Statement::prepare(to, "INSERT OR IGNORE INTO " + table + "(" + names + ") VALUES(" + places + ")");
    if (!insert)
        return tl::unexpected<Error>(std::move(insert.error()));
    if (table == "meta")
        return salvageTexts(from, *insert);
    // An event of an older format is a row of a view, which has no number but the id.
    const std::string key = columns->front() == "id" && table != "layout" ? "id" : "rowid";
    const std::string rest = " FROM " + table + " WHERE " + key + " >= ?1 ORDER BY " + key;
    BrokenTable source;
    if (auto ok = prepareAll(from,
            { { &source.rows, "SELECT " + names + ", " + key + rest },
                { &source.probe, "SELECT " + key + rest + " LIMIT 1" } });
        !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    const auto newest = queryInteger(from, "SELECT max(" + key + ") FROM " + table);
    const double end = static_cast<double>(std::max<std::int64_t>(newest.value_or(0), 1));
    SalvagedRows result;
    const auto width = static_cast<int>(columns->size());
    std::int64_t last = -kFarthestKey;
    std::int64_t begin = last; ///< of this reading
    std::uint64_t asked = 0;
    source.rows.bind(1, last);
    for (;;) {
        const double share = std::clamp(static_cast<double>(last) / end, 0.0, 1.0);
        if (progress && ++asked % kRowsBetween == 1 && !progress(share))
            return failure(ErrorCode::Canceled, "canceled");
        const auto more = source.rows.step();
        if (more && !*more)
            return result;
        // A page that is another one than it should be would lead back.
        if (more && source.rows.integer(width) > last && source.rows.integer(width) < kFarthestKey) {
            last = source.rows.integer(width);
            for (int column = 0; column < width; ++column)
                insert->bindFrom(column + 1, source.rows, column);
            if (auto ok = insert->run(); !ok && ok.error().code != ErrorCode::Unsupported)
                return tl::unexpected<Error>(std::move(ok.error()));
            else if (ok)
                ++result.rows;
            else
                ++result.unfit;
            continue;
        }
        source.rows.reset();
        ++result.stretches;
        // Its key may be readable where the rest of it is not.
        last = std::max({ last, begin, std::int64_t { 0 } });
        const std::int64_t next = source.goOnBehind(last);
        if (next >= kFarthestKey)
            return result;
        last = next - 1;
        begin = next;
        source.rows.bind(1, next);
    }
}

}
