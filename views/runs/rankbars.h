// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include <telltale/core/ids.h>
#include <telltale/series/query.h>

namespace telltale::views {

/// One statistic of one tensor on every rank, as bars on a common scale from zero; non-finite ranks in their own colour
/// and shape. A click chooses the rank. Thread: gui.
class RankBars : public QWidget {
    Q_OBJECT
public:
    struct Bar {
        Rank rank;
        series::CellValue value;
    };

    explicit RankBars(QWidget* parent = nullptr);

    void set(std::vector<Bar> bars, Rank current);
    QSize sizeHint() const override { return { 240, 66 }; }
    QSize minimumSizeHint() const override { return { 120, 66 }; }

Q_SIGNALS:
    void rankClicked(Rank rank);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void step(int by);

    std::vector<Bar> m_bars;
    Rank m_current;
};

}
