// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <utility>

#include <telltale/common/plotcanvas.h>
#include <telltale/common/valuescale.h>

#include "rankspicture.h"

namespace telltale::views {

/// One tensor on the ranks that should hold the same: how far they are apart over the steps, where that has room; below
/// it where their checksums differ and where they are the same, and above both what that means. Its plot has the edges
/// of a map of steps above it.
class ReplicaCanvas : public PlotCanvas {
    Q_OBJECT
public:
    explicit ReplicaCanvas(ViewState* state, QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const ReplicaPicture> picture);
    const ReplicaPicture* picture() const { return m_picture.get(); }
    void setEmptyText(const QString& text); ///< in place of a picture
    void setLeastGutter(int px);
    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    /// What the checksums say, with the first step that differs. Painted, the tensor stands above it already.
    QString sentence(bool isNamed = true) const;
    /// How many tensors of the kind are the same at the cursor's step, and which are not.
    QString tensorsSentence() const;
    /// What stands behind the spread of a column where the mouse is.
    QString spreadText(int column) const;

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    StepRange shownRange() const override;
    bool hasPlot() const override { return hasPicture() && m_picture->ranks.size() > 1; }
    void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers) override;
    bool event(QEvent* event) override;

private:
    bool hasPicture() const { return m_picture && m_picture->columns() > 0; }
    ValueScale scale() const;
    bool hasSteps(QSize size) const; ///< else the plot above has them, of which this one goes on
    int samenessHeight() const; ///< px of the lane below the plot
    int roomOfPlot(QSize size) const; ///< px of the height, with the step axis
    std::pair<int, int> linesOfWords(QSize size) const; ///< of each of the sentences above it
    int wordsHeight(QSize size) const; ///< px of them
    QString withoutText(const std::vector<Rank>& ranks) const; ///< empty where there are none
    void paintHover(QPainter& painter, const QRect& plot, QSize size) const;
    void paintSpread(QPainter& painter, const QRect& whole) const;
    void paintSameness(QPainter& painter, const QRect& plot) const;
    void paintWords(QPainter& painter, QSize size) const;

    std::shared_ptr<const ReplicaPicture> m_picture;
    QString m_emptyText;
    int m_leastGutter = 0;
};

}
