// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tilerepair.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include <telltale/store/storedtile.h>
#include <telltale/store/tilecodec.h>
#include <telltale/store/tilerow.h>

namespace telltale::store {
namespace {

class TileRepair {
public:
    TileRepair(sqlite3* db, std::vector<std::string>& lost)
        : m_db(db)
        , m_lost(lost)
    {
    }

    Expected<void> run()
    {
        auto ok = dropDamaged();
        if (ok)
            ok = dropUncounted();
        if (ok)
            ok = fillHoles();
        for (const auto& found : m_found) {
            const Lost& tiles = found.second;
            m_lost.push_back(tiles.tile.place() + " is lost"
                + (tiles.count > 1 ? fmt::format(": {} tiles in these steps", tiles.count) : std::string()));
        }
        return ok;
    }

private:
    struct Lost {
        StoredTile tile; ///< with the steps of all
        std::size_t count = 0;
    };

    void add(const StoredTile& tile)
    {
        Lost& all = m_found.try_emplace({ tile.kind, tile.stat, tile.rank }, Lost { tile, 0 }).first->second;
        all.tile.steps
            = { std::min(all.tile.steps.first, tile.steps.first), std::max(all.tile.steps.last, tile.steps.last) };
        ++all.count;
    }

    Expected<void> dropDamaged()
    {
        std::vector<std::int64_t> bad;
        auto ok = forEachRow(m_db, kTileRows, [this, &bad](const Statement& row) {
            const StoredTile tile = StoredTile::of(row);
            if (tile.isWhole && isInPlace(row))
                return;
            bad.push_back(tile.id);
            if (row.integer(8) == 0) // a coarser one is made of those: nothing is lost with it
                m_dropped.emplace(std::tuple(row.integer(12), row.integer(9), row.integer(3)), tile);
        });
        for (const std::int64_t id : bad) {
            if (ok)
                ok = execute(m_db, ("DELETE FROM tile WHERE id = " + std::to_string(id)).c_str());
        }
        return ok;
    }

    /// Without the counts of its non-finite elements a value would look finite that was not.
    Expected<void> dropUncounted()
    {
        std::string lacking;
        for (const Stat count : { Stat::Nans, Stat::PosInfs, Stat::NegInfs }) {
            const int stat = static_cast<int>(count);
            lacking
                += fmt::format("{}(instr(grp.stats, x'{:02X}') > 0 AND NOT EXISTS(SELECT 1 FROM tile AS other WHERE "
                               "other.lvl = 0 AND other.stat = {} AND other.grp = tile.grp AND other.c0 = tile.c0))",
                    lacking.empty() ? "" : " OR ", stat, stat);
        }
        std::vector<std::int64_t> bad;
        auto ok = forEachRow(
            m_db, std::string(kTileRows) + " WHERE tile.lvl = 0 AND (" + lacking + ")", [&](const Statement& row) {
                bad.push_back(row.integer(0));
                m_dropped.emplace(std::tuple(row.integer(12), row.integer(9), row.integer(3)), StoredTile::of(row));
                m_steps.try_emplace({ row.integer(12), row.integer(9) }, stepsOf(row));
            });
        for (const std::int64_t id : bad) {
            if (ok)
                ok = execute(m_db, ("DELETE FROM tile WHERE id = " + std::to_string(id)).c_str());
        }
        return ok;
    }

    static std::vector<Step> stepsOf(const Statement& row)
    {
        const auto view = openTile(row.blob(2));
        return view ? view->firstSteps() : std::vector<Step>();
    }

    /// Every statistic of every group of a layout has the same columns: what lacks one gets it with nothing collected.
    Expected<void> fillHoles()
    {
        struct Group {
            int lanes = 0;
            std::string stats;
            std::pair<std::int64_t, std::int64_t> layout;
            Kind kind = Kind::Unspecified;
            Rank rank;
        };
        std::map<std::int64_t, Group> groups;
        auto ok = forEachRow(m_db,
            "SELECT grp.id, series, stats, stream, layout, kind, rank FROM grp LEFT JOIN source ON source.id = "
            "grp.source",
            [&](const Statement& row) {
                groups[row.integer(0)]
                    = { static_cast<int>(row.integer(1)), std::string(row.blob(2)), { row.integer(3), row.integer(4) },
                          static_cast<Kind>(row.integer(5)), Rank { static_cast<std::int32_t>(row.integer(6)) } };
            });
        std::set<std::tuple<std::int64_t, std::int64_t, char>> there; // group, column, statistic
        std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::vector<Step>> columns; // layout, column
        const auto learn = [&](std::int64_t group, std::int64_t column, const auto& steps) {
            const auto of = groups.find(group);
            if (of == groups.end())
                return;
            auto& known = columns[{ of->second.layout.first, of->second.layout.second, column }];
            if (known.empty())
                known = steps();
        };
        if (ok)
            ok = forEachRow(m_db, std::string(kTileRows) + " WHERE tile.lvl = 0", [&](const Statement& row) {
                there.emplace(row.integer(12), row.integer(9), static_cast<char>(row.integer(3)));
                learn(row.integer(12), row.integer(9), [&row] { return stepsOf(row); });
            });
        for (const auto& [place, steps] : m_steps)
            learn(place.first, place.second, [&known = steps] { return known; });
        auto insert = Statement::prepare(m_db,
            "INSERT INTO tile(lvl, stat, grp, c0, first_step, last_step, crc, data) VALUES(0, ?, ?, ?, ?, ?, ?, ?)");
        if (!ok || !insert)
            return ok ? tl::unexpected<Error>(insert.error()) : ok;
        for (const auto& [id, group] : groups) {
            const auto from = std::tuple(group.layout.first, group.layout.second, std::int64_t { -1 });
            for (auto at = columns.lower_bound(from); at != columns.end()
                 && std::get<0>(at->first) == group.layout.first && std::get<1>(at->first) == group.layout.second;
                 ++at) {
                for (const char stat : group.stats) {
                    const std::int64_t column = std::get<2>(at->first);
                    if (at->second.empty() || there.contains({ id, column, stat }))
                        continue;
                    if (ok = writeHole(*insert, { 0, stat, id, column, 0, 0 }, group.lanes, at->second); !ok)
                        return ok;
                    const auto [low, high] = std::minmax_element(at->second.begin(), at->second.end());
                    add({ 0, static_cast<Stat>(stat), group.kind, group.rank, { *low, *high }, 0, false });
                    m_dropped.erase({ id, column, stat });
                }
            }
        }
        for (const auto& dropped : m_dropped)
            add(dropped.second); // of steps of which nothing is left
        return {};
    }

    static Expected<void> writeHole(Statement& insert, TileRow row, int lanes, const std::vector<Step>& steps)
    {
        const std::string nothing(static_cast<std::size_t>(lanes) * steps.size(), '\0');
        TilePlanes planes;
        planes.lanes = lanes;
        planes.columns = static_cast<int>(steps.size());
        planes.firstSteps = steps;
        planes.presence = reinterpret_cast<const std::uint8_t*>(nothing.data());
        planes.planes.resize(1);
        const std::string data = encodeTile(planes);
        row.firstStep = std::min_element(steps.begin(), steps.end())->value;
        row.lastStep = std::max_element(steps.begin(), steps.end())->value;
        return insert.run(
            row.stat, row.group, row.firstColumn, row.firstStep, row.lastStep, row.crcWith(data), Bytes { data });
    }

    sqlite3* m_db;
    std::vector<std::string>& m_lost;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, StoredTile> m_dropped; ///< group, column, statistic
    std::map<std::tuple<Kind, Stat, Rank>, Lost> m_found;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Step>> m_steps; ///< group, column: of what was dropped
};

}

Expected<void> repairTiles(sqlite3* db, std::vector<std::string>& lost)
{
    return TileRepair(db, lost).run();
}

}
