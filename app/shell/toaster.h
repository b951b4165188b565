// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <functional>

#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>

class QWidget;

namespace telltale::shell {

class Toast;

/// Sentences at the bottom right of the window, above its lower docks: at most three, six seconds each, critical ones
/// until dismissed; all of them go to the log. Network errors come here and never open a dialog. Thread: gui.
class Toaster : public QObject {
    Q_OBJECT
public:
    enum class Severity { Good, Notice, Warning, Critical };

    /// `window` is what the toasts lie on; `margin` px above its bottom edge stay free for the status bar.
    Toaster(QWidget* window, int margin);

    /// The same sentence while it is still shown is not repeated.
    void post(Severity severity, const QString& sentence);
    void post(Severity severity, const QString& sentence, const QString& action, std::function<void()> run);
    void setAnimated(bool on) { m_animated = on; }
    /// What a warning without an action of its own offers.
    void setDefaultAction(const QString& text, std::function<void()> run);
    QStringList shown() const;

Q_SIGNALS:
    void logged(telltale::shell::Toaster::Severity severity, const QString& sentence);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void arrange();

    QWidget* m_window;
    int m_margin;
    bool m_animated = true;
    std::deque<QPointer<Toast>> m_toasts;
    QString m_actionText;
    std::function<void()> m_action;
};

}
