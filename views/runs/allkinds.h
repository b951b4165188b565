// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QTimer>
#include <QWidget>

#include <telltale/common/dataview.h>
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
/// statistic. A row chosen is shown everywhere: its kind, and the tensor that has it. Thread: gui; values come from the
/// query pool.
class AllKinds : public QWidget {
    Q_OBJECT
public:
    explicit AllKinds(const ViewContext& context, QWidget* parent = nullptr);
    ~AllKinds() override;

    struct Line {
        Kind kind = Kind::Unspecified;
        ModuleKey key;
        Stat stat = Stat::Norm; ///< the chosen one, else the first that it has
        series::RowAttempts attempts;
    };
    /// Of the module `name`, or of the one that owns the parameter `name`, on one rank, in the order of the kinds:
    /// one of each tensor and kind, however many rows the run has of it.
    static std::vector<Line> linesOf(const store::Catalog& catalog, const QString& name, Rank rank, Stat stat);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void moduleChanged();
    void fitNames();
    void ask();
    void take(const std::vector<series::CellValue>& values, Step step);
    void choose(int row);

    ViewContext m_context;
    store::QueryPool::ViewId m_queryId;
    QTimer m_timer;
    std::vector<Line> m_lines;
    Stat m_stat = Stat::Norm; ///< of the title; a line of another one names its own
    RoleLabel* m_title;
    PanelTree* m_list;
    QStandardItemModel* m_model;
};

}
