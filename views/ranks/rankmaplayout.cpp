// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankmaplayout.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <telltale/items/comma.h>

namespace telltale::views {

using analysis::Parallel;

namespace {

constexpr double kRowText = 40; ///< px left of a block for the names of its rows
constexpr double kText = 16; ///< px of a line of names
constexpr double kBetween = 14; ///< blocks
constexpr double kInLine = 52; ///< px of a cell, where all ranks are in one line
constexpr double kLargest = 80; ///< px of a cell: a few of them have the room

QString textOf(Parallel way, int coordinate)
{
    const auto name = analysis::parallelName(way);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())) + QLatin1Char(' ')
        + (coordinate < 0 ? QStringLiteral("?") : QString::number(coordinate));
}

/// The different values, ascending, and their words.
std::vector<QString> textsOf(Parallel way, const std::set<int>& coordinates)
{
    std::vector<QString> texts;
    texts.reserve(coordinates.size());
    for (const int one : coordinates)
        texts.push_back(textOf(way, one));
    return texts;
}

template <class Set, class Value> int placeIn(const Set& set, const Value& value)
{
    return static_cast<int>(std::distance(set.begin(), set.find(value)));
}

}

RankMapLayout::RankMapLayout(const analysis::RankTopology& topology, const std::vector<Rank>& ranks, QRectF area)
{
    if (ranks.empty() || area.isEmpty())
        return;
    if (!placeByTopology(topology, ranks))
        placeByNumber(ranks, area);
    layOut(area);
}

bool RankMapLayout::placeByTopology(const analysis::RankTopology& topology, const std::vector<Rank>& ranks)
{
    std::vector<Parallel> ways = topology.ways();
    if (ways.size() < 2)
        return false;
    const auto take = [&ways](std::initializer_list<Parallel> wanted) {
        for (const Parallel way : wanted) {
            const auto at = std::find(ways.begin(), ways.end(), way);
            if (at != ways.end()) {
                ways.erase(at);
                return way;
            }
        }
        return Parallel::Data;
    };
    const Parallel column = take({ Parallel::Tensor, Parallel::Expert, Parallel::Pipeline, Parallel::Data });
    const Parallel row = take({ Parallel::Data, Parallel::Pipeline, Parallel::Expert });
    std::set<int> columns;
    std::set<int> rows;
    std::set<std::vector<int>> blocks;
    const auto blockOf = [&](Rank rank) {
        std::vector<int> block;
        block.reserve(ways.size());
        for (const Parallel way : ways)
            block.push_back(topology.coordinate(rank, way));
        return block;
    };
    for (const Rank rank : ranks) {
        columns.insert(topology.coordinate(rank, column));
        rows.insert(topology.coordinate(rank, row));
        blocks.insert(blockOf(rank));
    }
    std::set<Spot> taken;
    for (const Rank rank : ranks) {
        const Spot spot { placeIn(blocks, blockOf(rank)), placeIn(columns, topology.coordinate(rank, column)),
            placeIn(rows, topology.coordinate(rank, row)) };
        if (!taken.insert(spot).second) {
            m_spots.clear();
            return false;
        }
        m_spots[rank] = spot;
    }
    m_columns = textsOf(column, columns);
    m_rows = textsOf(row, rows);
    for (const std::vector<int>& block : blocks) {
        QStringList words;
        for (std::size_t i = 0; i < ways.size(); ++i)
            words.append(textOf(ways[i], block[i]));
        m_blocks.push_back(words.join(items::comma()));
    }
    m_columnCount = static_cast<int>(columns.size());
    m_rowCount = static_cast<int>(rows.size());
    m_blockCount = static_cast<int>(blocks.size());
    return true;
}

void RankMapLayout::placeByNumber(const std::vector<Rank>& ranks, QRectF area)
{
    const auto count = static_cast<double>(ranks.size());
    const double shape = std::max(0.1, area.width() / std::max(1.0, area.height()));
    m_columnCount
        = std::clamp(static_cast<int>(std::ceil(std::sqrt(count * shape))), 1, static_cast<int>(ranks.size()));
    // A few fit into one line, and eight or sixteen of them are a machine.
    const int inLine = static_cast<int>(area.width() / kInLine);
    if (static_cast<int>(ranks.size()) <= inLine)
        m_columnCount = static_cast<int>(ranks.size());
    else if (m_columnCount > 8)
        m_columnCount = std::min((m_columnCount + 7) / 8 * 8, static_cast<int>(ranks.size()));
    m_rowCount = static_cast<int>(
        (ranks.size() + static_cast<std::size_t>(m_columnCount) - 1) / static_cast<std::size_t>(m_columnCount));
    m_blockCount = 1;
    for (int i = 0; i < static_cast<int>(ranks.size()); ++i)
        m_spots[ranks[static_cast<std::size_t>(i)]] = { 0, i % m_columnCount, i / m_columnCount };
}

void RankMapLayout::layOut(QRectF area)
{
    const double left = m_rows.empty() ? 0 : kRowText;
    const double top = (m_columns.empty() ? 0 : kText) + (m_blockCount > 1 ? kText : 0);
    // Blocks wrap to where cells become largest.
    int perLine = 1;
    double cell = 0;
    for (int wanted = 1; wanted <= m_blockCount; ++wanted) {
        const int lines = (m_blockCount + wanted - 1) / wanted;
        const double width = (area.width() - left * wanted - kBetween * (wanted - 1)) / (wanted * m_columnCount);
        const double height = (area.height() - (top + kBetween) * lines + kBetween) / (lines * m_rowCount);
        const double fits = std::min({ width, height, kLargest });
        if (fits > cell) {
            cell = fits;
            perLine = wanted;
        }
    }
    cell = cell >= 6 ? std::floor(cell) : std::max(cell, 0.25);
    const double gap = cell >= 8 ? 2 : 0;
    const auto originOf = [&](int block) {
        const double width = left + cell * m_columnCount + kBetween;
        const double height = top + cell * m_rowCount + kBetween;
        const int line = block / perLine;
        return area.topLeft() + QPointF(left + width * (block % perLine), top + height * line);
    };
    for (const auto& [rank, spot] : m_spots)
        m_cells[rank] = QRectF(originOf(spot.block) + QPointF(cell * spot.column, cell * spot.row),
            QSizeF(std::max(0.25, cell - gap), std::max(0.25, cell - gap)));
    const int everyColumn = std::max(1, static_cast<int>(std::ceil(30 / cell)));
    const int everyRow = std::max(1, static_cast<int>(std::ceil(14 / cell)));
    for (int block = 0; block < m_blockCount; ++block) {
        const QPointF origin = originOf(block);
        for (int i = 0; i < static_cast<int>(m_columns.size()); i += everyColumn)
            m_columnLabels.push_back(
                { QRectF(origin.x() + cell * i - 20, origin.y() - kText, cell - gap + 40, kText - 2),
                    m_columns[static_cast<std::size_t>(i)] });
        for (int i = 0; i < static_cast<int>(m_rows.size()); i += everyRow)
            m_rowLabels.push_back(
                { QRectF(origin.x() - kRowText, origin.y() + cell * i + (cell - gap) / 2 - 8, kRowText - 6, 16),
                    m_rows[static_cast<std::size_t>(i)] });
        if (m_blockCount > 1)
            m_blockLabels.push_back({ QRectF(origin.x(), origin.y() - top, std::max(60.0, cell * m_columnCount), kText),
                m_blocks[static_cast<std::size_t>(block)] });
    }
}

QRectF RankMapLayout::cellOf(Rank rank) const
{
    const auto known = m_cells.find(rank);
    return known == m_cells.end() ? QRectF() : known->second;
}

Rank RankMapLayout::rankAt(QPointF position) const
{
    for (const auto& [rank, cell] : m_cells) {
        if (cell.adjusted(-1, -1, 1, 1).contains(position))
            return rank;
    }
    return Rank { -1 };
}

Rank RankMapLayout::beside(Rank rank, int columns, int rows) const
{
    const auto known = m_cells.find(rank);
    if (known == m_cells.end())
        return m_cells.empty() ? rank : m_cells.begin()->first;
    // The nearest in that direction: blocks follow one another.
    const QPointF from = known->second.center();
    Rank best = rank;
    double nearest = 0;
    for (const auto& [other, cell] : m_cells) {
        const QPointF way = cell.center() - from;
        const double along = way.x() * columns + way.y() * rows;
        const double across = std::abs(way.x() * rows) + std::abs(way.y() * columns);
        if (along <= 0.1)
            continue;
        const double distance = along + 4 * across;
        if (best == rank || distance < nearest) {
            best = other;
            nearest = distance;
        }
    }
    return best;
}

}
