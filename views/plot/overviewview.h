// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/common/dataview.h>

#include "comparedcurves.h"

class QComboBox;
class QLabel;

namespace telltale::views {

class ExactValues;
class FirstBad;
class LoggedSide;
class OverviewCanvas;
class RanksSide;
class ViewBar;

/// The run at a glance: its scalars on the shared axis, and how its ranks do.
class OverviewView : public DataView {
    Q_OBJECT
public:
    explicit OverviewView(const ViewContext& context, QWidget* parent = nullptr);

    void paintPicture(QPainter& painter, QSize size) override;
    Expected<void> writeCsv(QIODevice* device) const override;
    OverviewCanvas* canvas() const { return m_canvas; }

protected:
    void ask() override;
    void troubleChanged() override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildBar();
    void connectState();
    void updateCaption();
    QString emptyText() const;

    void showMerged();
    void fitSide();
    int sideWidth(int width) const; ///< of a view so wide; 0: there is nothing to show, or no room for it

    ComparedCurves m_compared;
    std::shared_ptr<const CurvePicture> m_own; ///< the last answer of the run that is shown
    ViewBar* m_bar;
    OverviewCanvas* m_canvas;
    QWidget* m_beside; ///< the scalars: the ranks, and what was logged
    RanksSide* m_side;
    LoggedSide* m_logged;
    FirstBad* m_firstBad;
    ExactValues* m_values;
    QComboBox* m_smoothBox = nullptr;
    QLabel* m_caption = nullptr;
};

}
