// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "comparequery.h"

class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace telltale::views {

class ViewBar;

/// What a comparison is made of: which runs, laid beside each other by what, how close counts as equal; and below it,
/// what of them is shown. Kind, statistic and rank are the state's own. Thread: gui.
class CompareBar : public QWidget {
    Q_OBJECT
public:
    explicit CompareBar(ViewState* state, QWidget* parent = nullptr);

    /// With what the state knows now: runs, kinds, statistics, ranks.
    void fill();
    std::size_t against() const { return m_against; }
    XAxis alignment() const;
    double tolerance() const;
    HeatScale value() const;
    RowOrder order() const;
    BelowMap below() const;
    std::vector<QComboBox*> ownBoxes() const; ///< whose choices are not the state's
    QPushButton* runsButton() const { return m_runs; }

Q_SIGNALS:
    void chooseWanted();
    void questionChanged(); ///< another picture is wanted
    void conformanceChanged(); ///< another tolerance or run B
    void belowChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitButton();

    ViewState* m_state;
    std::size_t m_against = 1;
    ViewBar* m_runsBar;
    ViewBar* m_shownBar;
    QLabel* m_reference; ///< the run that is shown, with the line of its curves
    QPushButton* m_runs;
    QComboBox* m_againstBox;
    QComboBox* m_alignBox;
    QComboBox* m_toleranceBox;
    QComboBox* m_valueBox;
    QComboBox* m_kindBox;
    QComboBox* m_statBox;
    QComboBox* m_rankBox;
    QComboBox* m_orderBox;
    QComboBox* m_belowBox;
    QToolButton* m_follow;
};

}
