// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QScrollArea>

#include <telltale/judge/rules.h>

class QPushButton;

namespace telltale::views {

class EscalationRow;
class ParameterRow;
class RulesDraft;
class SwitchButton;

/// Every rule with its switch and its numbers.
class RulesForm : public QScrollArea {
    Q_OBJECT
public:
    explicit RulesForm(RulesDraft* draft, QWidget* parent = nullptr);

Q_SIGNALS:
    void entered(const QString& pointer);
    void suggestionWanted(telltale::judge::Rule rule, std::size_t parameter);

private:
    QWidget* makeHead(const judge::RuleInfo& info, QPushButton* ask, QWidget* parent);
    void takeDraft();

    RulesDraft* m_draft;
    std::vector<std::pair<judge::Rule, SwitchButton*>> m_switches;
    std::vector<ParameterRow*> m_rows;
    std::vector<EscalationRow*> m_escalations;
};

}
