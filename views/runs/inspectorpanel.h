// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include <telltale/common/dataview.h>
#include <telltale/common/viewstate.h>

#include "facttable.h"
#include "inspectorquery.h"
#include "modulerecords.h"

class QLabel;

namespace telltale::views {

class PanelHead;
class RankBars;
class RoleLabel;

/// The last finite values of a row. Where two hints stand side by side, what they have in common goes below the name.
void addLastFinite(FactTable::Row& row, Stat stat, const std::vector<std::optional<LastFinite>>& last);

/// The first selected module: shapes, every statistic at the cursor (the newest step without one), the same statistic
/// on every rank, where it is called from and what passed through it. Values come from the query pool.
class InspectorPanel : public QWidget {
    Q_OBJECT
public:
    explicit InspectorPanel(const ViewContext& context, QWidget* parent = nullptr);
    ~InspectorPanel() override;

    PanelHead* head() const { return m_head; }

private:
    void moduleChanged();
    void askSoon();
    void ask();
    void show(const InspectorAnswer& answer, const std::vector<Stat>& stats, Step step);
    void askRecords();
    void showRecords(const ModuleRecords& records);
    void showNothing(); ///< the module has none of the chosen kind
    QString subtitle(const store::Catalog& catalog) const;
    void copy() const;

    ViewContext m_context;
    store::QueryPool::ViewId m_queryId;
    store::QueryPool::ViewId m_recordsId;
    QTimer m_timer;
    Kind m_kind = Kind::Unspecified; ///< of m_keys: the state's, or of a scalar
    std::vector<ModuleKey> m_keys; ///< slots of the module, one a column
    std::vector<std::uint64_t> m_numels; ///< beside m_keys, 0 = unknown
    std::vector<Rank> m_ranks;
    std::weak_ptr<const store::RunHandle> m_recordsRun; ///< of what is shown below
    QString m_recordsName;
    ModuleRecords m_records;

    PanelHead* m_head;
    QWidget* m_body;
    RoleLabel* m_title;
    RoleLabel* m_subtitle;
    RoleLabel* m_shapesTitle;
    FactTable* m_shapes;
    RoleLabel* m_kindLabel;
    FactTable* m_values;
    RoleLabel* m_nothing; ///< in place of the values: why there are none
    RoleLabel* m_footnote;
    RoleLabel* m_ranksTitle;
    RankBars* m_rankBars;
    RoleLabel* m_stackTitle;
    RoleLabel* m_stack;
    RoleLabel* m_passedTitle;
    RoleLabel* m_passed;
};

}
