// SPDX-License-Identifier: GPL-3.0-or-later
#include "recordssection.h"

#include <algorithm>

#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/store/rowsof.h>

#include "allkinds.h"
#include "rolelabel.h"
#include "stacktext.h"

namespace telltale::views {

RecordsSection::RecordsSection(const ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_queryId(context.queries ? context.queries->newView() : 0)
    , m_stackTitle(new RoleLabel(tr("Called from"), &Theme::text2, wordsFont(11, 600), this))
    , m_stack((new RoleLabel(&Theme::text, codeFont(12), this))->asData())
    , m_passedTitle(new RoleLabel(tr("Inputs and outputs"), &Theme::text2, wordsFont(11, 600), this))
    , m_passed((new RoleLabel(&Theme::text, codeFont(12), this))->asData())
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    for (RoleLabel* part : { m_stackTitle, m_stack, m_passedTitle, m_passed })
        layout->addWidget(part);
    for (RoleLabel* text : { m_stack, m_passed }) {
        text->setTextFormat(Qt::PlainText); // it comes from the training process
        text->setTextInteractionFlags(Qt::TextSelectableByMouse);
        text->setWordWrap(true);
    }
    makeStackLabel(m_stack);
    m_stack->setObjectName(QStringLiteral("inspectorStack"));
    m_passed->setObjectName(QStringLiteral("inspectorPassed"));
    connect(context.state, &ViewState::blobsArrived, this, &RecordsSection::ask);
}

RecordsSection::~RecordsSection()
{
    if (m_context.queries)
        m_context.queries->cancel(m_queryId);
}

void RecordsSection::ask()
{
    const ViewState* state = m_context.state;
    const auto catalog = state->catalog();
    if (!catalog || state->selection().empty())
        return;
    const QString name = state->selection().front().name;
    if (m_name != name || m_run.lock() != state->run()) {
        m_name = name;
        m_run = state->run();
        showRecords({});
    }
    if (!state->run() || !m_context.queries || (m_records.isStackThere && m_records.isPassedThere))
        return;
    const auto rows = store::rowsOf(*catalog).named(name.toStdString());
    const bool isParameter
        = std::any_of(rows.begin(), rows.end(), [](const auto* row) { return isOfParameters(row->kind); });
    m_context.queries->submit(m_queryId, state->run(),
        [this, own = name.toStdString(), isParameter](
            Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            if (!reader)
                return {}; // the views say why a run cannot be read
            return [this, records = readModuleRecords(**reader, own, isParameter)] { showRecords(records); };
        });
}

void RecordsSection::showRecords(const ModuleRecords& records)
{
    m_records = records;
    m_stack->setText(stackHtml(QString::fromStdString(records.stack)));
    m_passed->setText(QString::fromStdString(records.passed));
    for (RoleLabel* part : { m_stackTitle, m_stack })
        part->setVisible(!records.stack.empty());
    for (RoleLabel* part : { m_passedTitle, m_passed })
        part->setVisible(!records.passed.empty());
    setVisible(!records.stack.empty() || !records.passed.empty());
}

}
