// SPDX-License-Identifier: GPL-3.0-or-later
#include "alertpost.h"

#include <algorithm>
#include <deque>
#include <map>

#include <telltale/core/plaintext.h>

#include "commandchannel.h"
#include "desktopchannel.h"
#include "webhookchannel.h"

namespace telltale::notify {

using alerts::Alert;
using alerts::AlertWatch;
using namespace std::chrono_literals;

namespace {

constexpr auto kPoll = 1s; ///< an edit of the file counts within it
constexpr auto kLastWords = 2s;

}

AlertPost::AlertPost(std::string dataDir, AlertWatch& watch, alerts::DeliveryQueue::Limits limits, Say say)
    : m_dataDir(std::move(dataDir))
    , m_watch(watch)
    , m_limits(limits)
    , m_say(std::move(say))
{
    for (QTimer* timer : { &m_poll, &m_due, &m_end })
        timer->setParent(this); // they go to the thread where this goes
    m_due.setSingleShot(true);
    m_end.setSingleShot(true);
    connect(&m_poll, &QTimer::timeout, this, &AlertPost::read);
    connect(&m_due, &QTimer::timeout, this, &AlertPost::pump);
    connect(&m_end, &QTimer::timeout, this, [this] {
        for (const auto& channel : m_channels)
            channel->giveUp("the program ends");
        Q_EMIT done();
    });
}

AlertPost::~AlertPost() = default;

void AlertPost::start()
{
    m_stamp = stampOf(m_dataDir);
    if (auto settings = loadAlerts(m_dataDir))
        m_settings = std::move(*settings);
    else
        m_say(settings.error().sentence() + "; nobody but the desktop is told of incidents until that is mended");
    m_watch.setLeast(m_settings.least);
    makeChannels();
    m_poll.start(kPoll);
    pump();
}

void AlertPost::read()
{
    const FileStamp stamp = stampOf(m_dataDir);
    if (stamp == m_stamp)
        return;
    m_stamp = stamp;
    auto settings = loadAlerts(m_dataDir);
    if (!settings) {
        m_say(settings.error().sentence() + "; what was in force stays so");
        return;
    }
    if (*settings == m_settings)
        return;
    m_settings = std::move(*settings);
    m_watch.setLeast(m_settings.least);
    makeChannels();
}

void AlertPost::makeChannels()
{
    // What waits for somebody who is still there goes on waiting for them.
    std::map<std::string, std::deque<Alert>> waiting;
    for (const auto& channel : m_channels) {
        auto& into = waiting[channel->name()];
        for (Alert& alert : channel->takeWaiting())
            into.push_back(std::move(alert));
    }
    m_channels.clear();
    for (const alerts::Webhook& hook : m_settings.webhooks) {
        if (hook.isOn)
            m_channels.push_back(std::make_unique<WebhookChannel>(hook, m_limits, m_say));
    }
    for (const alerts::Command& command : m_settings.commands) {
        if (command.isOn)
            m_channels.push_back(std::make_unique<CommandChannel>(command, m_limits, m_say));
    }
    for (const auto& channel : m_channels) {
        connect(channel.get(), &Channel::told, this, &AlertPost::endWhenIdle, Qt::QueuedConnection);
        for (Alert& alert : std::exchange(waiting[channel->name()], {}))
            channel->send(std::move(alert));
    }
    for (const auto& [name, alerts] : waiting) {
        if (!alerts.empty())
            m_say(countText(alerts.size(), "alert is", "alerts are") + " not delivered to the " + name
                + ": it is used no more");
    }
    if (m_desktop)
        m_desktop->setQuiet(std::chrono::seconds(m_settings.desktopQuietS));
}

void AlertPost::pump()
{
    read();
    const std::chrono::seconds settle(m_isEnding ? 0 : m_settings.settleS);
    for (const Alert& alert : m_watch.take(AlertWatch::Clock::now(), settle))
        tell(alert);
    if (const auto due = m_watch.due(settle)) {
        const auto pause = std::chrono::ceil<std::chrono::milliseconds>(*due - AlertWatch::Clock::now());
        m_due.start(std::max(pause, 0ms));
    }
}

void AlertPost::tell(const Alert& alert)
{
    for (const auto& channel : m_channels)
        channel->send(alert);
    if (m_settings.isConsoleOn)
        Q_EMIT consoleWanted(alert);
    if (m_settings.isDesktopOn)
        Q_EMIT desktopWanted(alert);
}

void AlertPost::showOnDesktop(const Alert& alert)
{
    if (!hasDesktopSession()) {
        Q_EMIT trayWanted(QString::fromStdString(alert.title()), QString::fromStdString(alert.incident.sentence),
            { alert.locator, alert.incident.id });
        return;
    }
    if (!m_desktop) {
        m_desktop = std::make_unique<DesktopChannel>(
            QDBusConnection::sessionBus(), std::chrono::seconds(m_settings.desktopQuietS), m_say);
        connect(m_desktop.get(), &DesktopChannel::unshown, this, &AlertPost::trayWanted);
        connect(m_desktop.get(), &DesktopChannel::clicked, this, &AlertPost::clicked);
    }
    m_desktop->send(alert);
}

void AlertPost::test(const alerts::AlertSettings& settings)
{
    m_round = std::make_unique<TestRound>(settings);
    connect(m_round.get(), &TestRound::finished, this, &AlertPost::tested);
    m_round->start();
}

void AlertPost::load()
{
    const auto settings = loadAlerts(m_dataDir);
    Q_EMIT loaded(
        settings.value_or(m_settings), settings ? QString() : QString::fromStdString(settings.error().sentence()));
}

void AlertPost::save(const alerts::AlertSettings& settings)
{
    const auto saved = saveAlerts(m_dataDir, settings);
    read();
    Q_EMIT this->saved(saved ? QString() : QString::fromStdString(saved.error().sentence()));
}

void AlertPost::finishUp()
{
    m_isEnding = true;
    pump();
    m_poll.stop();
    m_end.start(kLastWords);
    endWhenIdle();
}

void AlertPost::endWhenIdle()
{
    const bool isIdle
        = std::all_of(m_channels.begin(), m_channels.end(), [](const auto& channel) { return channel->isIdle(); });
    if (m_isEnding && isIdle)
        m_end.start(0ms);
}

}
