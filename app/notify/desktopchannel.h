// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>

#include <QDBusConnection>

#include "alertplace.h"
#include "channel.h"

namespace telltale::notify {

/// Whether somebody has a session here in which notifications may show.
bool hasDesktopSession();

/// Notifications of the desktop (org.freedesktop.Notifications). After one there is none for a while; what came
/// meanwhile is one more at its end. Thread: see Channel.
class DesktopChannel final : public QObject {
    Q_OBJECT
public:
    /// `bus`: where the desktop's notifications are; by its name, or, of a peer, without one.
    DesktopChannel(QDBusConnection bus, std::chrono::seconds quiet, Say say);

    void send(const alerts::Alert& alert);
    void setQuiet(std::chrono::seconds quiet) { m_quiet = quiet; }

Q_SIGNALS:
    void told(bool isDelivered, const QString& sentence);
    /// There is nobody on the bus who shows it.
    void unshown(const QString& title, const QString& text, const telltale::notify::AlertPlace& place);
    /// Somebody clicked on one. `token`: what lets a window come to the front, where the desktop gives one.
    void clicked(const telltale::notify::AlertPlace& place, const QString& token);

private Q_SLOTS:
    // What the desktop says of everybody's notifications.
    void onToken(uint id, const QString& token);
    void onAction(uint id, const QString& action);
    void onClosed(uint id);

private:
    void show(const QString& title, const QString& text, bool isCritical, const AlertPlace& place);
    void endQuiet();

    QDBusConnection m_bus;
    const QString m_service;
    std::chrono::seconds m_quiet;
    Say m_say;
    QTimer m_pause; ///< runs while it is quiet
    alerts::Alert m_held; ///< the first of those that came meanwhile
    int m_heldCount = 0;
    std::map<uint, AlertPlace> m_shown; ///< by id, until they are closed
    std::pair<uint, QString> m_token; ///< comes before its action
};

}
