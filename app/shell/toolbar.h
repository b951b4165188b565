// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QHBoxLayout;
class QPushButton;

namespace telltale::views {
class RoleLabel;
}

namespace telltale::shell {

class CollectSwitch;
class PaletteButton;
class RunButton;
class SparkLine;
struct Pulse;

/// The bar under the menus: which run, its pulse, the way to everything else. Parts that do not fit a narrow window go
/// away from the right, least needed first.
class ToolBar : public QWidget {
    Q_OBJECT
public:
    explicit ToolBar(QWidget* parent = nullptr);

    RunButton* runButton() const { return m_run; }
    CollectSwitch* collectSwitch() const { return m_collect; }
    PaletteButton* paletteButton() const { return m_palette; }
    void addAction(QAction* action); ///< a tool button at the right end
    /// What the button beside the switch of a live run does.
    void setApplyAction(QAction* action);
    using QWidget::addAction;
    void show(const Pulse& pulse);
    void showStep(Step step); ///< of that pulse
    QSize sizeHint() const override { return { 1120, 44 }; }
    QSize minimumSizeHint() const override { return { 480, 44 }; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Fact {
        QWidget* box = nullptr;
        views::RoleLabel* before = nullptr;
        views::RoleLabel* value = nullptr;
        views::RoleLabel* after = nullptr;
        bool wanted = false;
        int widest = 0; ///< px of its value in this run: what stands beside it keeps its place
        int needed = 0; ///< higher stays longer
    };
    Fact makeFact(const QString& before, const QString& after, int needed);
    void fit();

    QHBoxLayout* m_layout;
    RunButton* m_run;
    CollectSwitch* m_collect;
    QPushButton* m_apply;
    PaletteButton* m_palette;
    views::RoleLabel* m_waiting;
    SparkLine* m_spark;
    Fact m_step, m_rate, m_ranks, m_lag, m_dropped, m_samples, m_cost;
    QString m_costText, m_costShare;
    QString m_runName;
    bool m_sparkWanted = false;
    bool m_applyWanted = false;
};

}
