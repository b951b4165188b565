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

/// Sentences at the bottom right of the window: at most three, six seconds each, critical ones until dismissed; all of
/// them are kept in a log of the last two hundred. Network errors come here and never open a dialog. Thread: gui.
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
    const std::deque<QString>& log() const { return m_log; }
    QStringList shown() const;

Q_SIGNALS:
    void logged(const QString& line);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void arrange();

    QWidget* m_window;
    int m_margin;
    bool m_animated = true;
    std::deque<QPointer<Toast>> m_toasts;
    std::deque<QString> m_log;
};

}
