// SPDX-License-Identifier: GPL-3.0-or-later
#include "testround.h"

#include <chrono>

#include "commandchannel.h"
#include "desktopchannel.h"
#include "webhookchannel.h"

namespace telltale::notify {

TestRound::TestRound(const alerts::AlertSettings& settings)
    : m_settings(settings)
{
}

TestRound::~TestRound() = default;

void TestRound::start()
{
    const auto quietly = [](const std::string&) {}; // what it would log is in the answer
    alerts::DeliveryQueue::Limits once;
    once.tries = 1;
    for (const alerts::Webhook& hook : m_settings.webhooks) {
        if (hook.isOn)
            m_channels.push_back(std::make_unique<WebhookChannel>(hook, once, quietly));
    }
    for (const alerts::Command& command : m_settings.commands) {
        if (command.isOn)
            m_channels.push_back(std::make_unique<CommandChannel>(command, once, quietly));
    }
    if (m_settings.isDesktopOn && hasDesktopSession())
        m_desktop = std::make_unique<DesktopChannel>(QDBusConnection::sessionBus(), std::chrono::seconds(0), quietly);
    m_asked = m_channels.size() + (m_desktop ? 1 : 0);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto alert = alerts::Alert::test(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    if (m_desktop) {
        connect(m_desktop.get(), &DesktopChannel::told, this, [this](bool isDelivered, const QString& sentence) {
            take(QStringLiteral("desktop"), isDelivered, sentence);
        });
        m_desktop->send(alert);
    }
    for (const auto& channel : m_channels) {
        // A command that cannot be started says so at once: answers are taken from the event loop.
        connect(
            channel.get(), &Channel::told, this,
            [this, label = QString::fromStdString(channel->label())](
                bool isDelivered, const QString& sentence) { take(label, isDelivered, sentence); },
            Qt::QueuedConnection);
        channel->send(alert);
    }
    if (m_asked == 0)
        QMetaObject::invokeMethod(
            this, [this] { Q_EMIT finished(m_answers); }, Qt::QueuedConnection);
}

void TestRound::take(const QString& receiver, bool isDelivered, const QString& sentence)
{
    m_answers.push_back({ receiver, isDelivered, sentence });
    if (m_answers.size() == m_asked)
        Q_EMIT finished(m_answers);
}

}
