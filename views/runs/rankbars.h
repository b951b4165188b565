// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QtCharts/QChartView>

#include <telltale/analysis/oddranks.h>
#include <telltale/core/ids.h>
#include <telltale/series/query.h>

class QStackedBarSeries;
class QValueAxis;

namespace telltale::views {

/// One statistic of one tensor on every rank, as bars on a common scale from zero; non-finite ranks in their own color
/// and shape, and a sign above those that are unlike their peers. A click chooses the rank.
class RankBars : public QChartView {
    Q_OBJECT
public:
    struct Bar {
        Rank rank;
        series::CellValue value;
        analysis::RankOddness::Grade grade = analysis::RankOddness::Grade::Like; ///< marked above the bar
    };

    explicit RankBars(QWidget* parent = nullptr);

    void set(std::vector<Bar> bars, Rank current);
    QSize sizeHint() const override { return { 240, 66 }; }
    QSize minimumSizeHint() const override { return { 120, 66 }; }

Q_SIGNALS:
    void rankClicked(Rank rank);

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent*) override { }
    void keyPressEvent(QKeyEvent* event) override;

private:
    void arrange();
    void step(int by);

    std::vector<Bar> m_bars;
    Rank m_current;
    QStackedBarSeries* m_series;
    QValueAxis* m_ranks;
    QValueAxis* m_values;
};

}
