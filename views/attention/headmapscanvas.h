// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <telltale/common/plotcanvas.h>

#include "headmappicture.h"

namespace telltale::views {

/// Attention maps of some heads beside each other. The mouse and the arrows point at a cell, Page Up and Page Down go
/// to the head before and after, Enter and a click select the head. Thread: gui.
class HeadMapsCanvas : public PlotCanvas {
    Q_OBJECT
public:
    explicit HeadMapsCanvas(ViewState* state, QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const HeadMapPicture> picture);
    const HeadMapPicture* picture() const { return m_picture.get(); }
    void setEmptyText(const QString& text);
    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    /// Where the cells of a tile stand in a widget of this size.
    QRectF cellsRect(int tile, QSize size) const;
    int usedHeight(QSize size) const; ///< px of it that its tiles fill
    /// "query 33, key 1", or those that a cell is of.
    static QString cellText(const analysis::HeadMaps& maps, int row, int column);

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
    struct TileGrid;
    struct Place {
        int tile = -1; ///< none
        int row = 0;
        int column = 0;
    };
    bool hasPicture() const { return m_picture && !m_picture->tiles.empty(); }
    const HeadMapTile& tile(int number) const { return m_picture->tiles[static_cast<std::size_t>(number)]; }
    QRectF cellRect(const Place& place, QSize size) const;
    Place placeAt(QPoint position) const;
    void moveBy(int tiles, int rows, int columns);
    void paintTile(QPainter& painter, int number, const QString& title, const ValueScale& scale, QSize size,
        const Theme& theme) const;
    void paintNonFinite(QPainter& painter, int number, QSize size, const Theme& theme) const;

    std::shared_ptr<const HeadMapPicture> m_picture;
    QString m_emptyText;
    double m_names = 0; ///< px before each line: where tiles are of several steps, their heads have names
    Place m_near;
};

}
