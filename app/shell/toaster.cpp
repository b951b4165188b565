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

Toaster::Toaster(QWidget* window, int margin)
    : QObject(window)
    , m_window(window)
    , m_margin(margin)
{
    window->installEventFilter(this);
}

void Toaster::post(Severity severity, const QString& sentence)
{
    const bool offers = severity == Severity::Warning || severity == Severity::Critical;
    post(severity, sentence, offers ? m_actionText : QString(), m_action);
}

void Toaster::setDefaultAction(const QString& text, std::function<void()> run)
{
    m_actionText = text;
    m_action = std::move(run);
}

void Toaster::post(Severity severity, const QString& said, const QString& action, std::function<void()> run)
{
    items::assertGuiThread();
    const QString sentence = items::saidwords::inLanguage(said);
    if (shown().contains(sentence))
        return;
    Q_EMIT logged(severity, sentence);

    auto* toast = new Toast(severity, sentence, action, std::move(run), m_window);
    connect(toast, &Toast::closed, this, [this, toast] {
        std::erase(m_toasts, toast);
        arrange();
    });
    m_toasts.emplace_back(toast);
    if (m_toasts.size() > kMost) {
        if (m_toasts.front())
            m_toasts.front()->deleteLater();
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
    for (const QPointer<Toast>& toast : m_toasts) {
        if (toast)
            sentences.append(toast->sentence());
    }
    return sentences;
}

void Toaster::arrange()
{
    // At the right, above what is below the views: the card of an incident has its buttons there.
    const auto* main = qobject_cast<const QMainWindow*>(m_window);
    const QWidget* center = main ? main->centralWidget() : nullptr;
    int bottom = (center ? center->geometry().bottom() : m_window->height() - m_margin) - kGap;
    for (auto toast = m_toasts.rbegin(); toast != m_toasts.rend(); ++toast) {
        if (!*toast)
            continue;
        (*toast)->move(m_window->width() - (*toast)->width() - kInset, bottom - (*toast)->height());
        bottom -= (*toast)->height() + kGap;
    }
}

bool Toaster::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        arrange();
    return QObject::eventFilter(watched, event);
}

}
