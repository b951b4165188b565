// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>

class QMainWindow;

namespace telltale::shell {

class Toast;

/// Sentences at the bottom right of what is between the docks of the window, where no dock that opens can cover them:
/// at most three, six seconds each, critical ones until dismissed; all of them go to the log. Network errors come here
/// and never open a dialog. Thread: gui.
class Toaster : public QObject {
    Q_OBJECT
public:
    enum class Severity { Good, Notice, Warning, Critical };

    explicit Toaster(QMainWindow* window);

    /// The same sentence while it is still shown is not repeated.
    void post(Severity severity, const QString& sentence);
    void post(Severity severity, const QString& sentence, const QString& action, std::function<void()> run);
    /// The same of the run that is shown, without naming it: when another one is shown it goes, and so it does from the
    /// log.
    void postOfRun(
        Severity severity, const QString& sentence, const QString& action = {}, std::function<void()> run = {});
    void leaveRun();
    void setAnimated(bool on) { m_animated = on; }
    /// What a warning without an action of its own offers.
    void setDefaultAction(const QString& text, std::function<void()> run);
    QStringList shown() const;

Q_SIGNALS:
    void logged(telltale::shell::Toaster::Severity severity, const QString& sentence, bool isOfRun);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Shown {
        QPointer<Toast> toast;
        bool isOfRun;
    };
    using Action = std::pair<QString, std::function<void()>>;

    void put(Severity severity, const QString& said, Action action, bool isOfRun);
    void arrange();

    QMainWindow* m_window;
    bool m_animated = true;
    std::deque<Shown> m_toasts;
    Action m_action; ///< of a warning without one
};

}
