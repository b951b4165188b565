// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QObject>
#include <QThread>

#include <telltale/alerts/alertsettings.h>
#include <telltale/alerts/alertwatch.h>

#include "alertplace.h"
#include "channel.h"
#include "testround.h"

namespace telltale::store {
class StoreService;
}

namespace telltale::notify {

class AlertPost;

/// Tells people of the incidents of what is recorded, by alerts.json of a data directory. All sockets, programs and
/// files are on a thread of its own. Thread: main; what is asked for is answered by a signal.
class AlertService : public QObject {
    Q_OBJECT
public:
    struct Options {
        std::string dataDir;
        Say say = {}; ///< what was not delivered, and what is wrong with the file
        alerts::DeliveryQueue::Limits limits = {};
    };

    /// No run is watched yet; the settings can be seen and tested all the same.
    explicit AlertService(Options options);
    ~AlertService() override; ///< stop()

    /// Once: its runs are watched, until stop(). The store outlives that.
    void watch(const store::StoreService& store);

    /// The store has stopped: what it told last is told to the receivers within two seconds, or given up and said.
    void stop();

    void load();
    void save(const alerts::AlertSettings& settings);
    void test(const alerts::AlertSettings& settings);
    /// Where nobody looks at the run; see desktopWanted.
    void showOnDesktop(const alerts::Alert& alert);

Q_SIGNALS:
    /// `problem`: why the file's are not in force; then these are.
    void loaded(const telltale::alerts::AlertSettings& settings, const QString& problem);
    void saved(const QString& problem);
    void tested(const std::vector<telltale::notify::TestAnswer>& answers);
    /// Whoever has a window decides whether to showOnDesktop().
    void desktopWanted(const telltale::alerts::Alert& alert);
    void consoleWanted(const telltale::alerts::Alert& alert);
    /// There is no service for notifications.
    void trayWanted(const QString& title, const QString& text, const telltale::notify::AlertPlace& place);
    /// On what the desktop shows.
    void clicked(const telltale::notify::AlertPlace& place, const QString& token);

private:
    template <typename Call> void post(Call call);

    QThread m_thread;
    std::unique_ptr<alerts::AlertWatch> m_watch;
    AlertPost* m_post; ///< ends with the thread
    std::unique_ptr<judge::IncidentFeed> m_feed; ///< last: it calls the watch
};

}
