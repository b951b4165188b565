// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QWidget>

#include <telltale/config/field.h>

class QToolButton;
class QVBoxLayout;

namespace telltale::views {

class ConfigDraft;
class ProblemLabel;
class RoleLabel;

/// One field of a config in the form: its name, a control of its type, what its value means or was, and what is wrong
/// with it.
class FieldRow : public QWidget {
    Q_OBJECT
public:
    static constexpr int kNameWidth = 204;

    FieldRow(const config::Field& field, ConfigDraft* draft, QWidget* parent = nullptr);

    QString pointer() const { return m_pointer; }
    bool isChanged() const { return m_isChanged; }
    bool hasProblem() const { return m_hasProblem; }
    /// Whether the field holds other than its default, or is changed.
    bool isUsed() const { return m_isUsed; }
    /// A value, as the control shows it.
    QString shownText(const QString& json) const;
    void setRoom(int width); ///< of the form, for hints
    /// The field as the draft has it now.
    void takeDraft();

Q_SIGNALS:
    void entered(const QString& pointer); ///< its control has the keyboard

protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    using Json = config::Json;

    QWidget* makeControl(const Json& schema);
    QWidget* makeSwitch();
    QWidget* makeChoice(const Json& names);
    QWidget* makeChecks(const Json& names);
    QWidget* makeText(const Json& schema);
    void set(const Json& value);
    void fitHint();

    const config::Field& m_field;
    const QString m_pointer;
    ConfigDraft* m_draft;
    std::function<void(const Json&)> m_show; ///< puts a value into the control
    RoleLabel* m_hint; ///< what the value means, or was
    QToolButton* m_undo;
    ProblemLabel* m_problem;
    bool m_isInput = false; ///< its control takes what room there is
    bool m_isWide = false; ///< its control has several parts
    bool m_isChanged = false;
    bool m_hasProblem = false;
    bool m_isUsed = false;
    bool m_isTyping = false;
    Json m_understood; ///< the value that what was typed last has
};

}
