// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QWidget>

#include <telltale/core/expected.h>

class QIODevice;
class QLabel;
class QPainter;

namespace telltale::views {

class HeadMapsCanvas;
class ViewState;
struct HeadMapPicture;

/// Recorded attention maps of queries and keys under a line that says of which steps they are and what is left out.
/// Thread: gui.
class HeadMapsPanel : public QWidget {
    Q_OBJECT
public:
    explicit HeadMapsPanel(ViewState* state, QWidget* parent = nullptr);

    /// `example`: a module that maps could be asked for, where there are none.
    void setPicture(std::shared_ptr<const HeadMapPicture> picture, const QString& example);
    HeadMapsCanvas* canvas() const { return m_canvas; }
    bool isEmpty() const;
    int usedHeight(QSize room) const; ///< px of it that are filled
    void paintTo(QPainter& painter, const QRect& rect);
    /// A row for each cell that was seen.
    Expected<void> writeCsv(QIODevice* device) const;

private:
    QString captionText() const;
    QString emptyText(const QString& example) const;

    ViewState* m_state;
    QLabel* m_caption;
    HeadMapsCanvas* m_canvas;
};

}
