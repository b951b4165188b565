// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QWidget>

#include "ranktimes.h"

namespace telltale::views {

class PanelHead;
class RankTable;
class RankTimesPanel;
class RoleLabel;
class ViewState;

/// How the ranks of a run do, beside its scalars: the table of them, what is unusual in a sentence, and how long each
/// takes. Thread: gui.
class RanksSide : public QWidget {
    Q_OBJECT
public:
    static constexpr int kLeastWidth = 300;
    static constexpr int kMostWidth = 430;

    explicit RanksSide(ViewState* state, QWidget* parent = nullptr);

    void setTimes(std::shared_ptr<const RankTimes> times);
    bool isEmpty() const; ///< the run is of one rank

Q_SIGNALS:
    void changed(); ///< isEmpty() may have

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void showTable();

    ViewState* m_state;
    RankTable* m_table;
    PanelHead* m_tableHead = nullptr;
    RoleLabel* m_sentence;
    RankTimesPanel* m_times;
    QWidget* m_timesPart;
    PanelHead* m_timesHead = nullptr;
};

}
