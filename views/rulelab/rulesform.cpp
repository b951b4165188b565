// SPDX-License-Identifier: GPL-3.0-or-later
#include "rulesform.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/ruletitles.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/steering/switchbutton.h>

#include "escalationrow.h"
#include "parameterrow.h"
#include "rulesdraft.h"

namespace telltale::views {

RulesForm::RulesForm(RulesDraft* draft, QWidget* parent)
    : QScrollArea(parent)
    , m_draft(draft)
{
    setObjectName(QStringLiteral("rulesForm"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* rows = new QWidget;
    rows->setBackgroundRole(QPalette::Base);
    rows->setAutoFillBackground(true);
    auto* layout = new QVBoxLayout(rows);
    layout->setContentsMargins(0, 4, 0, 12);
    layout->setSpacing(0);
    for (const judge::RuleInfo& info : judge::ruleTable()) {
        auto* ask = new QPushButton(rows);
        layout->addWidget(makeHead(info, ask, rows));
        for (std::size_t i = 0; i < info.parameters.size(); ++i) {
            if (info.parameters[i].name.empty())
                continue;
            auto* row = new ParameterRow(info.rule, i, draft, rows);
            connect(row, &ParameterRow::entered, this, &RulesForm::entered);
            connect(row, &ParameterRow::suggestionWanted, this, &RulesForm::suggestionWanted);
            layout->addWidget(row);
            m_rows.push_back(row);
        }
        auto* more = new EscalationRow(info.rule, draft, ask, rows);
        connect(more, &EscalationRow::entered, this, &RulesForm::entered);
        connect(ask, &QPushButton::clicked, more, [this, more] {
            // Once it has a place.
            QMetaObject::invokeMethod(
                more, [this, more] { ensureWidgetVisible(more, 0, 24); }, Qt::QueuedConnection);
        });
        layout->addWidget(more);
        m_escalations.push_back(more);
    }
    layout->addStretch(1);
    setWidget(rows);
    int width = rows->minimumSizeHint().width();
    for (const EscalationRow* row : m_escalations) // which are not all to be seen now
        width = std::max(width, row->minimumSizeHint().width());
    setMinimumWidth(width + 12);
    connect(draft, &RulesDraft::changed, this, &RulesForm::takeDraft);
    takeDraft();
}

QWidget* RulesForm::makeHead(const judge::RuleInfo& info, QPushButton* ask, QWidget* parent)
{
    auto* head = new QWidget(parent);
    const QString id = QString::fromUtf8(info.id.data(), static_cast<qsizetype>(info.id.size()));
    head->setToolTip(items::toolTipText(items::ruleText(info.description).remove(u'`')));
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(12, 5, 8, 1);
    row->setSpacing(8);
    auto* button = new SwitchButton(head);
    button->setCheckable(true);
    button->setObjectName(QStringLiteral("switch/rules/%1/on").arg(id));
    button->setAccessibleName(items::ruleText(info.title));
    auto* title = new RoleLabel(items::ruleText(info.title), &Theme::text, wordsFont(12, 600), head);
    title->setBuddy(button);
    row->addWidget(button);
    row->addWidget(title);
    row->addWidget((new RoleLabel(id, &Theme::text3, codeFont(11), head))->asData());
    row->addStretch(1);
    row->addWidget(ask);
    const judge::Rule rule = info.rule;
    connect(button, &QAbstractButton::clicked, this, [this, rule](bool on) { m_draft->setOn(rule, on); });
    m_switches.emplace_back(rule, button);
    return head;
}

void RulesForm::takeDraft()
{
    for (const auto& [rule, button] : m_switches)
        button->setChecked(m_draft->rules().isOn(rule));
    for (ParameterRow* row : m_rows)
        row->takeDraft();
    for (EscalationRow* row : m_escalations)
        row->takeDraft();
}

}
