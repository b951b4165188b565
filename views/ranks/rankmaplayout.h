// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <vector>

#include <QRectF>
#include <QString>

#include <telltale/analysis/ranktopology.h>

namespace telltale::views {

/// Where every rank stands on a small map of a run: rows and columns are ways in which ranks share the model (tensor
/// pieces beside each other, copies below each other), what is left of them blocks beside each other; a plain grid by
/// number where less than two are told or two ranks tell the same place. Thread: any (a value).
class RankMapLayout {
public:
    RankMapLayout() = default;
    RankMapLayout(const analysis::RankTopology& topology, const std::vector<Rank>& ranks, QRectF area);

    /// Null where the rank is not on the map.
    QRectF cellOf(Rank rank) const;
    /// {-1} where there is none.
    Rank rankAt(QPointF position) const;
    /// The rank next to one, or itself at an edge.
    Rank beside(Rank rank, int columns, int rows) const;

    struct Label {
        QRectF box;
        QString text;
    };
    const std::vector<Label>& columnLabels() const { return m_columnLabels; }
    const std::vector<Label>& rowLabels() const { return m_rowLabels; }
    const std::vector<Label>& blockLabels() const { return m_blockLabels; }

private:
    struct Spot {
        int block = 0;
        int column = 0;
        int row = 0;
        auto operator<=>(const Spot&) const = default; // NOLINT(modernize-use-nullptr): of the compiler's own
    };
    bool placeByTopology(const analysis::RankTopology& topology, const std::vector<Rank>& ranks);
    void placeByNumber(const std::vector<Rank>& ranks, QRectF area);
    void layOut(QRectF area);

    std::map<Rank, Spot> m_spots;
    std::map<Rank, QRectF> m_cells;
    std::vector<QString> m_columns; ///< texts of the axis; empty without one
    std::vector<QString> m_rows;
    std::vector<QString> m_blocks;
    int m_columnCount = 0;
    int m_rowCount = 0;
    int m_blockCount = 0;
    std::vector<Label> m_columnLabels;
    std::vector<Label> m_rowLabels;
    std::vector<Label> m_blockLabels;
};

}
