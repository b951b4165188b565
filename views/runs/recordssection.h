// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QWidget>

#include <telltale/common/dataview.h>

#include "modulerecords.h"

namespace telltale::views {

class RoleLabel;

/// Where the first selected module is called from and what passed through it; hidden while nothing is known of either.
class RecordsSection : public QWidget {
    Q_OBJECT
public:
    explicit RecordsSection(const ViewContext& context, QWidget* parent = nullptr);
    ~RecordsSection() override;

    /// Records are of the run as a whole: asked once a module, again only while the run has none.
    void ask();

private:
    void showRecords(const ModuleRecords& records);

    ViewContext m_context;
    store::QueryPool::ViewId m_queryId;
    std::weak_ptr<const store::RunHandle> m_run; ///< of what is shown
    QString m_name;
    ModuleRecords m_records;
    RoleLabel* m_stackTitle;
    RoleLabel* m_stack;
    RoleLabel* m_passedTitle;
    RoleLabel* m_passed;
};

}
