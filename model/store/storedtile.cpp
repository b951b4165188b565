// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/storedtile.h>

#include <algorithm>

#include <fmt/format.h>

#include <telltale/core/bytes.h>
#include <telltale/store/checkedrow.h>
#include <telltale/store/tilecodec.h>
#include <telltale/store/tilerow.h>

namespace telltale::store {

StoredTile StoredTile::of(const Statement& row)
{
    const std::string_view data = row.blob(2);
    return { row.integer(0), static_cast<Stat>(row.integer(3)), static_cast<Kind>(row.integer(6)),
        Rank { static_cast<std::int32_t>(row.integer(7)) }, { Step { row.integer(4) }, Step { row.integer(5) } },
        data.size(), crc32c(data) == static_cast<std::uint32_t>(row.integer(1)) };
}

bool isInPlace(const Statement& statement)
{
    CheckedRow row(statement);
    row.id(0);
    const auto stat = static_cast<char>(row.number(3, 1, kStoredStatCount - 1));
    const StepRange steps { row.step(4), row.step(5) };
    const int level = static_cast<int>(row.number(8, 0, kMaxLevel));
    const std::int64_t column = row.number<std::int64_t>(9);
    const std::int64_t lanes = row.number(11, 1, series::kTileSeries);
    const auto view = openTile(row.blob(2));
    const TileRow place { level, stat, row.any(12), column, steps.first.value, steps.last.value };
    if (!row.isGood() || !view || !place.fits(row.any(1)) || !isColumn(column) || column % tileColumns(level) != 0
        || row.blob(10).find(stat) == std::string_view::npos || view->lanes() != lanes)
        return false;
    const auto& first = view->firstSteps();
    const auto& last = view->lastSteps();
    return *std::min_element(first.begin(), first.end()) == steps.first
        && *std::max_element(last.begin(), last.end()) == steps.last;
}

std::string StoredTile::place() const
{
    return fmt::format("{} {} of rank {}, steps {} to {}", kindName(kind), statName(stat), rank.value,
        steps.first.value, steps.last.value);
}

}
