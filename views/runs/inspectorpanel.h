// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include <telltale/common/dataview.h>
#include <telltale/common/viewstate.h>

#include "inspectorquery.h"

class QLabel;

namespace telltale::views {

class AllKinds;
class FactTable;
class PanelHead;
class RankBars;
class RecordsSection;
class RoleLabel;

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
    InspectorQuery valuesQuery(const store::Catalog& catalog); ///< of m_keys
    void show(const InspectorAnswer& answer, const std::vector<Stat>& stats, Step step);
    void showNothing(); ///< the module has none of the chosen kind
    void copy() const;

    ViewContext m_context;
    store::QueryPool::ViewId m_queryId;
    QTimer m_timer;
    Kind m_kind = Kind::Unspecified; ///< of m_keys: the state's, or of a scalar
    std::vector<ModuleKey> m_keys; ///< slots of the module, one a column
    std::vector<std::uint64_t> m_numels; ///< beside m_keys, 0 = unknown
    std::vector<Rank> m_ranks;

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
    AllKinds* m_kinds;
    RankBars* m_rankBars;
    RecordsSection* m_records;
};

}
