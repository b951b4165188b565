// SPDX-License-Identifier: GPL-3.0-or-later
#include "toaster.h"

#include <algorithm>

#include <QEvent>
#include <QGraphicsOpacityEffect>
#include <QMainWindow>
#include <QPropertyAnimation>
#include <QWidget>

#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>

#include "toast.h"

namespace telltale::shell {

namespace {

constexpr std::size_t kMost = 3;
constexpr int kGap = 8;
constexpr int kInset = 12;
constexpr int kFadeMs = 80;

}

Toaster::Toaster(QMainWindow* window)
    : QObject(window)
    , m_window(window)
{
}

void Toaster::post(Severity severity, const QString& sentence)
{
    const bool offers = severity == Severity::Warning || severity == Severity::Critical;
    put(severity, sentence, offers ? m_action : Action(), false);
}

void Toaster::post(Severity severity, const QString& sentence, const QString& action, std::function<void()> run)
{
    put(severity, sentence, { action, std::move(run) }, false);
}

void Toaster::postOfRun(Severity severity, const QString& sentence, const QString& action, std::function<void()> run)
{
    put(severity, sentence, { action, std::move(run) }, true);
}

void Toaster::leaveRun()
{
    const std::deque<Shown> all = m_toasts;
    for (const Shown& one : all) {
        if (one.toast && one.isOfRun)
            one.toast->close();
    }
}

void Toaster::setDefaultAction(const QString& text, std::function<void()> run)
{
    m_action = { text, std::move(run) };
}

void Toaster::put(Severity severity, const QString& said, Action action, bool isOfRun)
{
    items::assertGuiThread();
    const QString sentence = items::saidwords::inLanguage(said);
    if (shown().contains(sentence))
        return;
    Q_EMIT logged(severity, sentence, isOfRun);

    m_window->centralWidget()->installEventFilter(this);
    auto* toast = new Toast(severity, sentence, action.first, std::move(action.second), m_window->centralWidget());
    connect(toast, &Toast::closed, this, [this, toast] {
        std::erase_if(m_toasts, [toast](const Shown& one) { return one.toast == toast; });
        arrange();
    });
    m_toasts.push_back({ toast, isOfRun });
    if (m_toasts.size() > kMost) {
        if (m_toasts.front().toast)
            m_toasts.front().toast->deleteLater();
        m_toasts.pop_front();
    }
    arrange();
    if (m_animated) {
        auto* effect = new QGraphicsOpacityEffect(toast);
        toast->setGraphicsEffect(effect);
        auto* fade = new QPropertyAnimation(effect, "opacity", toast);
        fade->setDuration(kFadeMs);
        fade->setStartValue(0.0);
        fade->setEndValue(1.0);
        // An effect that stays would paint the toast through a pixmap for ever.
        connect(fade, &QPropertyAnimation::finished, toast, [toast] { toast->setGraphicsEffect(nullptr); });
        fade->start();
    }
    toast->show();
    toast->raise();
}

QStringList Toaster::shown() const
{
    QStringList sentences;
    for (const Shown& one : m_toasts) {
        if (one.toast)
            sentences.append(one.toast->sentence());
    }
    return sentences;
}

void Toaster::arrange()
{
    const QSize room = m_window->centralWidget()->size();
    int bottom = room.height() - kGap;
    for (auto one = m_toasts.rbegin(); one != m_toasts.rend(); ++one) {
        Toast* const toast = one->toast;
        if (!toast)
            continue;
        toast->move(std::max(room.width() - toast->width() - kInset, 0), bottom - toast->height());
        bottom -= toast->height() + kGap;
    }
}

bool Toaster::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        arrange();
    return QObject::eventFilter(watched, event);
}

}
