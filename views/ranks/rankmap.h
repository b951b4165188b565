// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <utility>

#include <telltale/common/plotcanvas.h>

#include "rankmaplayout.h"
#include "rankspicture.h"

namespace telltale::views {

/// All ranks of a run where they stand in its parallelism, in the colors of the faces beside it, with the signs of what
/// is not finite and of ranks that are unlike their peers. A click, or the arrows and Enter, choose a rank.
class RankMap : public PlotCanvas {
    Q_OBJECT
public:
    explicit RankMap(ViewState* state, QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const RankMapPicture> picture);
    const RankMapPicture* picture() const { return m_picture.get(); }
    /// What of it is not a value is explained below the map, where no legend beside it does that.
    void setExplained(std::vector<series::CellState> states);
    const std::vector<series::CellState>& explained() const { return m_explained; }
    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    QString whyNoneIsOdd() const; ///< empty where some could be
    static QString whyOdd(const MapRank& one); ///< "unlike its peers over the steps shown (29 of 156 cells)"
    /// Where a rank is drawn in the widget; null where it is not.
    QRectF cellOf(Rank rank) const { return layoutFor(size()).cellOf(rank); }

Q_SIGNALS:
    void rankPicked(telltale::Rank rank);

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    bool hasStepAxis() const override { return false; }
    void hoveredAt(QPoint position) override;
    void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers) override;
    void left() override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override; ///< tool tips beside the ranks, of what has no room

private:
    struct Explained {
        analysis::RankOddness::Grade grade; ///< whose sign stands before the words; none before those of Like
        QString words;
        int left = 0; ///< px of the words
        int height = 0; ///< px, with what is below them
    };

    RankMapLayout layoutFor(QSize size) const;
    const std::vector<Explained>& explanations(QSize size) const;
    std::vector<Explained> explain(QSize size) const;
    const MapRank* find(Rank rank) const;
    void paintCells(QPainter& painter, const RankMapLayout& layout) const;
    void paintSigns(QPainter& painter, QSize size) const;
    void paintStates(QPainter& painter, QSize size) const;
    void paintHover(QPainter& painter, const RankMapLayout& layout, QSize size) const;

    std::shared_ptr<const RankMapPicture> m_picture;
    std::vector<series::CellState> m_explained;
    mutable std::pair<QSize, std::vector<Explained>> m_explanations; ///< of the picture, and the size they are for
    Rank m_near { -1 }; ///< pointed at by the mouse or the keys
};

}
