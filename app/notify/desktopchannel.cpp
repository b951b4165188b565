// SPDX-License-Identifier: GPL-3.0-or-later
#include "desktopchannel.h"

#include <QCoreApplication>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusServiceWatcher>
#include <QFileInfo>
#include <QVariantMap>

namespace telltale::notify {

namespace {

constexpr std::size_t kMostShown = 256; ///< a desktop that never says that one was closed
constexpr QLatin1String kService("org.freedesktop.Notifications");
constexpr QLatin1String kPath("/org/freedesktop/Notifications");

}

bool hasDesktopSession()
{
    // Without one libdbus would start a bus of its own.
    const QString runtime = qEnvironmentVariable("XDG_RUNTIME_DIR");
    return !qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS")
        || (!runtime.isEmpty() && QFileInfo::exists(runtime + QStringLiteral("/bus")));
}

DesktopChannel::DesktopChannel(QDBusConnection bus, std::chrono::seconds quiet, Say say)
    : m_bus(std::move(bus))
    , m_service(m_bus.name().startsWith(QLatin1String("peer")) ? QString() : kService) // a peer has no names
    , m_quiet(quiet)
    , m_say(std::move(say))
{
    m_pause.setParent(this);
    m_pause.setSingleShot(true);
    connect(&m_pause, &QTimer::timeout, this, &DesktopChannel::endQuiet);
    m_bus.connect(m_service, kPath, kService, QStringLiteral("ActivationToken"), this, SLOT(onToken(uint, QString)));
    m_bus.connect(m_service, kPath, kService, QStringLiteral("ActionInvoked"), this, SLOT(onAction(uint, QString)));
    m_bus.connect(m_service, kPath, kService, QStringLiteral("NotificationClosed"), this, SLOT(onClosed(uint)));
    if (m_service.isEmpty())
        return;
    // One that was started again counts anew, and its ids are those of other programs.
    auto* watcher = new QDBusServiceWatcher(m_service, m_bus, QDBusServiceWatcher::WatchForOwnerChange, this);
    connect(watcher, &QDBusServiceWatcher::serviceOwnerChanged, this, [this] { m_shown.clear(); });
}

void DesktopChannel::send(const alerts::Alert& alert)
{
    if (m_pause.isActive()) {
        if (++m_heldCount == 1)
            m_held = alert;
        return;
    }
    if (m_quiet.count() > 0 && !alert.isTest)
        m_pause.start(m_quiet);
    show(QString::fromStdString(alert.title()), QString::fromStdString(alert.incident.sentence),
        alert.incident.first.severity == store::Severity::Critical, { alert.locator, alert.incident.id });
}

void DesktopChannel::endQuiet()
{
    if (m_heldCount == 0)
        return;
    const int count = std::exchange(m_heldCount, 0);
    if (count == 1)
        return send(std::exchange(m_held, {}));
    m_pause.start(m_quiet);
    show(QCoreApplication::translate(
             "telltale::notify::DesktopChannel", "Telltale: %n more incident(s)", nullptr, count),
        QString::fromStdString(m_held.incident.sentence), true, { m_held.locator });
}

void DesktopChannel::show(const QString& title, const QString& text, bool isCritical, const AlertPlace& place)
{
    QDBusMessage call = QDBusMessage::createMethodCall(m_service, kPath, kService, QStringLiteral("Notify"));
    QStringList actions; // "default" is a click on it
    if (!place.locator.empty())
        actions << QStringLiteral("default")
                << QCoreApplication::translate("telltale::notify::DesktopChannel", "Show in Telltale");
    // The text may be read as markup.
    call << QStringLiteral("Telltale") << 0U << QStringLiteral("telltale") << title << text.toHtmlEscaped() << actions
         << QVariantMap { { QStringLiteral("urgency"), QVariant::fromValue<uchar>(isCritical ? 2 : 1) },
                { QStringLiteral("desktop-entry"), QStringLiteral("telltale") } }
         << -1;
    auto* watcher = new QDBusPendingCallWatcher(m_bus.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher, title, text, place] {
        watcher->deleteLater();
        const QDBusPendingReply<uint> reply = *watcher;
        if (!reply.isError()) {
            if (m_shown.size() >= kMostShown)
                m_shown.erase(m_shown.begin());
            m_shown[reply.value()] = place;
            Q_EMIT told(true, QStringLiteral("it was shown"));
            return;
        }
        m_say("the desktop does not show notifications: " + reply.error().message().toStdString());
        Q_EMIT unshown(title, text, place);
        Q_EMIT told(false, reply.error().message());
    });
}

void DesktopChannel::onToken(uint id, const QString& token)
{
    m_token = { id, token };
}

void DesktopChannel::onAction(uint id, const QString& action)
{
    const auto token = std::exchange(m_token, {});
    const auto shown = m_shown.find(id);
    if (shown != m_shown.end() && !shown->second.locator.empty() && action == QLatin1String("default"))
        Q_EMIT clicked(shown->second, token.first == id ? token.second : QString());
}

void DesktopChannel::onClosed(uint id)
{
    m_shown.erase(id);
}

}
