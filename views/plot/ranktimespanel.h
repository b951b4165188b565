// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QWidget>

#include "ranktimes.h"

namespace telltale::views {

class ViewState;

/// How long the ranks computed, a box each on one axis. A click, Up or Down chooses the rank. Thread: gui.
class RankTimesPanel : public QWidget {
    Q_OBJECT
public:
    explicit RankTimesPanel(ViewState* state, QWidget* parent = nullptr);

    void setTimes(std::shared_ptr<const RankTimes> times); ///< null or empty: there is nothing to show
    bool isEmpty() const { return !m_times || m_times->isEmpty(); }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override; ///< tool tips of the boxes

private:
    void paintBoxes(QPainter& painter) const;
    std::size_t boxAt(int y) const; ///< as many as there are, where there is none

    ViewState* m_state;
    std::shared_ptr<const RankTimes> m_times;
};

}
