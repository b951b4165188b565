// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <memory>

#include <telltale/common/plotcanvas.h>

#include "attentionmap.h"

namespace telltale::views {

/// Two maps of the same heads beside each other. A click selects a head everywhere, with Ctrl as well; the arrows move
/// from head to head, Enter selects.
class AttentionCanvas : public PlotCanvas {
    Q_OBJECT
public:
    explicit AttentionCanvas(ViewState* state, QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const AttentionPicture> picture, std::array<HeadValue, 2> values);
    const AttentionPicture* picture() const { return m_picture.get(); }
    /// Heads whose curves are drawn below it, with the slots of their colors.
    void setDrawn(std::vector<std::pair<ModuleKey, int>> heads);
    void setEmptyText(const QString& text);
    int mostHeight() const; ///< px that it can fill
    int leastHeight() const; ///< px in which it can be read
    static int cellsLeft(std::size_t side); ///< px from the left edge of its half to its cells
    static bool hasNarrowMaps(int width); ///< of a widget so wide
    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    /// Of the left (0) or right (1) map, in a widget of this size. Only while there is a picture.
    AttentionMap map(int side, QSize size) const;

Q_SIGNALS:
    void headPicked(const telltale::views::ModuleKey& head, telltale::Rank rank, bool isAdded);

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    bool hasStepAxis() const override { return false; }
    void hoveredAt(QPoint position) override;
    void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers) override;
    void left() override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    bool hasPicture() const { return m_picture && !m_picture->isEmpty(); }
    QRectF wordsRect(QSize size) const; ///< of the two lines below the maps
    /// Layer and column; {-1, -1} where there is no head.
    std::array<int, 2> headAt(QPoint position) const;
    void moveBy(int layers, int columns);
    void pick(bool isAdded); ///< what is pointed at
    /// What is measured, in words: the agent's own definition, and msprobe's where that was asked for.
    void paintDefinitions(QPainter& painter, const QRectF& line, const Theme& theme) const;
    /// At which step the heads are, and what the signs on them mean.
    void paintSigns(QPainter& painter, const QRectF& line, const Theme& theme) const;
    void paintReadoutOf(QPainter& painter, const QRectF& bounds, const QRectF& cell, HeadValue value) const;

    std::shared_ptr<const AttentionPicture> m_picture;
    std::array<HeadValue, 2> m_values { HeadValue::Entropy, HeadValue::SoftmaxMax };
    std::vector<std::pair<ModuleKey, int>> m_drawn;
    QString m_emptyText;
    std::array<int, 2> m_near { -1, -1 }; ///< the head that is pointed at, by the mouse or the keys
    int m_side = 0; ///< of the map that it was pointed at in
};

}
