// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/judge/rules.h>

class QDoubleSpinBox;
class QSlider;
class QToolButton;

namespace telltale::views {

class RoleLabel;
class RulesDraft;

/// One number of a rule: its name, a slider on a logarithmic scale over all that it may be, and the number itself.
class ParameterRow : public QWidget {
    Q_OBJECT
public:
    static constexpr int kNameWidth = 84;

    ParameterRow(judge::Rule rule, std::size_t parameter, RulesDraft* draft, QWidget* parent = nullptr);

    void takeDraft();

Q_SIGNALS:
    void entered(const QString& pointer);
    void suggestionWanted(telltale::judge::Rule rule, std::size_t parameter);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    int positionOf(double value) const;
    double valueAt(int position) const;

    const judge::Rule m_rule;
    const std::size_t m_number;
    const judge::Parameter& m_parameter;
    RulesDraft* m_draft;
    QSlider* m_slider;
    QDoubleSpinBox* m_box;
    QToolButton* m_undo;
    QToolButton* m_suggest;
    bool m_isChanged = false;
    bool m_isTaking = false;
};

}
