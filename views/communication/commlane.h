// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <telltale/common/plotcanvas.h>
#include <telltale/common/valuescale.h>

#include "commpicture.h"

namespace telltale::views {

/// When in a step each call site was at work: a bar from its first call to the end of its last one, filled as far as
/// the calls took of that time. A click chooses a site.
class CommLane : public PlotCanvas {
    Q_OBJECT
public:
    explicit CommLane(ViewState* state, QWidget* parent = nullptr);

    /// `order`: rows of the picture from top to bottom.
    void setPicture(std::shared_ptr<const CommPicture> picture, std::vector<int> order);
    void setCurrent(const QString& site);
    /// Those that have a number on an axis so wide, from 0 to so many; one alone is no scale.
    static std::vector<double> axisValues(double ms, int width);
    QRect plotRect(QSize size) const override;
    using PlotCanvas::plotRect;
    /// Where a site's bar is in the widget; null where it has no times in the step.
    QRectF barOf(const QString& site) const;
    /// The axis ends with the step, however long that went on after the last of the collectives.
    bool endsWithStep() const { return m_picture && m_picture->hasTimes() && m_picture->endNs > 0; }

Q_SIGNALS:
    void siteChosen(const QString& site);

protected:
    void paintFrame(QImage& frame, QSize size) override;
    void paintOverlay(QPainter& painter, QSize size) override;
    bool hasStepAxis() const override { return false; }
    void clickedAt(QPoint position, Qt::KeyboardModifiers modifiers) override;
    void moveRow(int rows) override;

private:
    struct Bar {
        const CommRow* row = nullptr;
        double begin = 0; ///< seconds since the step began
        double end = 0;
        double share = 0; ///< of that time that the calls took
    };
    std::vector<Bar> bars() const;
    /// The share of each bar stands right of it, in numbers.
    bool hasShares(QSize size) const;
    double length() const; ///< seconds of the step
    QString axisTitle() const;
    /// Left of a line, what it is of.
    void paintName(
        QPainter& painter, const QRectF& line, const CommRow& row, const QFont& font, const QColor& color) const;
    QRectF lineOf(std::size_t line, const QRect& plot) const;
    QRectF boxOf(const Bar& bar, std::size_t line, const QRect& plot) const;
    int lineAt(QPoint position) const;
    void paintTones(QPainter& painter, const QRectF& area, bool areSharesSaid) const;

    std::shared_ptr<const CommPicture> m_picture;
    std::vector<int> m_order;
    QString m_current;
    int m_nameWidth = 0; ///< of the longest
    int m_titleWidth = 0; ///< of the axis
    int m_shareWidth = 0; ///< 0: there are no bars
};

}
