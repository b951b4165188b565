// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <QObject>
#include <QTimer>

#include <telltale/alerts/alertwatch.h>

#include "alertplace.h"
#include "alertsfile.h"
#include "channel.h"
#include "testround.h"

namespace telltale::notify {

class DesktopChannel;

/// Hands on what the watch decides to whom alerts.json names, as it is now: an edit of the file counts at once.
/// Thread: AlertService's own, which has an event loop.
class AlertPost : public QObject {
    Q_OBJECT
public:
    AlertPost(std::string dataDir, alerts::AlertWatch& watch, alerts::DeliveryQueue::Limits limits, Say say);
    ~AlertPost() override;

    void start();
    void pump(); ///< the watch may have something
    void showOnDesktop(const alerts::Alert& alert);
    void test(const alerts::AlertSettings& settings);
    void load();
    void save(const alerts::AlertSettings& settings);
    /// Tells what is still to be told, and emits done() when that is over or its time is.
    void finishUp();

Q_SIGNALS:
    void loaded(const telltale::alerts::AlertSettings& settings, const QString& problem);
    void saved(const QString& problem);
    void tested(const std::vector<telltale::notify::TestAnswer>& answers);
    void desktopWanted(const telltale::alerts::Alert& alert);
    void consoleWanted(const telltale::alerts::Alert& alert);
    void trayWanted(const QString& title, const QString& text, const telltale::notify::AlertPlace& place);
    void clicked(const telltale::notify::AlertPlace& place, const QString& token);
    void done();

private:
    void read();
    void makeChannels();
    void tell(const alerts::Alert& alert);
    void endWhenIdle();

    const std::string m_dataDir;
    alerts::AlertWatch& m_watch;
    const alerts::DeliveryQueue::Limits m_limits;
    const Say m_say;
    alerts::AlertSettings m_settings;
    FileStamp m_stamp;
    std::vector<std::unique_ptr<Channel>> m_channels;
    std::unique_ptr<DesktopChannel> m_desktop;
    std::unique_ptr<TestRound> m_round;
    QTimer m_poll;
    QTimer m_due;
    QTimer m_end;
    bool m_isEnding = false;
};

}
