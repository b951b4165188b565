// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QWidget>

#include <telltale/common/viewstate.h>
#include <telltale/series/query.h>
#include <telltale/store/catalog.h>

class QStandardItemModel;

namespace telltale::views {

class PanelTree;
class RoleLabel;

/// Of weights, their gradients, and what the optimizer has of them.
bool isOfParameters(Kind kind);

/// Everything that is collected of one module at one step: its activations, and what its parameters have, in one
/// statistic. A row chosen is shown everywhere: its kind, and the tensor that has it. Thread: gui.
class AllKinds : public QWidget {
    Q_OBJECT
public:
    explicit AllKinds(ViewState* state, QWidget* parent = nullptr);

    struct Line {
        Kind kind = Kind::Unspecified;
        ModuleKey key;
        Stat stat = Stat::Norm; ///< the chosen one, else the first that it has
        series::RowAttempts attempts;
    };
    /// Of the module `name`, or of the one that owns the parameter `name`, on one rank, in the order of the kinds:
    /// one of each tensor and kind, however many rows the run has of it.
    static std::vector<Line> linesOf(const store::Catalog& catalog, const QString& name, Rank rank, Stat stat);

    /// That are shown, and want their values; none where there is one alone.
    const std::vector<Line>& lines() const { return m_lines; }
    /// Their values at `step`, or the newest before it. `above`: the step of the values that stand above them.
    void setValues(const std::vector<series::CellValue>& values, Step step, std::optional<Step> above);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void moduleChanged();
    void fitNames();
    void choose(int row);

    ViewState* m_state;
    std::vector<Line> m_lines;
    Stat m_stat = Stat::Norm; ///< of the title; a line of another one names its own
    RoleLabel* m_title;
    PanelTree* m_list;
    QStandardItemModel* m_model;
};

}
