// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/judge/rules.h>

class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace telltale::views {

class RoleLabel;
class RulesDraft;

/// What more is collected for a while where a rule opens an incident: a template or fields of a config, for how many
/// steps, how often; what is wrong with it stands below. Not to be seen of a rule that asks for nothing.
class EscalationRow : public QWidget {
    Q_OBJECT
public:
    /// `ask`: begins with what suits the rule; there as long as it asks for nothing.
    EscalationRow(judge::Rule rule, RulesDraft* draft, QPushButton* ask, QWidget* parent = nullptr);

    void takeDraft();

Q_SIGNALS:
    void entered(const QString& pointer);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void makeRows();
    void choose(int entry);
    void edit();
    void tint();

    const judge::Rule m_rule;
    const QString m_pointer;
    RulesDraft* m_draft;
    QPushButton* m_ask;
    QComboBox* m_what;
    QToolButton* m_undo;
    QWidget* m_more; ///< what there is to say of one that is on
    QLineEdit* m_config;
    QSpinBox* m_steps;
    QSpinBox* m_times;
    RoleLabel* m_problem;
    bool m_isChanged = false;
    bool m_isTaking = false;
};

}
