// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <set>
#include <string>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <telltale/items/runsmodel.h>
#include <telltale/store/querypool.h>
#include <telltale/store/runhandle.h>

#include "appcontext.h"
#include "pulse.h"

namespace telltale::views {
class ViewState;
}

namespace telltale::shell {

class JobThread;
class StoreNews;

/// Which run the views show, and its clock: a tick (30 Hz, 10 Hz unfocused) that takes what the store has told, raises
/// the visible range, asks for newer directories, and opens the first live run by itself. Thread: gui. The archive is
/// listed on the job thread, catalogs are read in the query pool.
class RunDriver : public QObject {
    Q_OBJECT
public:
    RunDriver(const AppContext& context, views::ViewState* state, JobThread* jobs, QObject* parent);
    ~RunDriver() override;

    items::RunsModel* runs() { return &m_runs; }
    const Pulse& pulse() const { return m_pulse; }
    const std::vector<ConnectionInfo>& connections() const { return m_connections; }

    void openById(const QString& id);
    /// A capsule anywhere, or an id; a problem comes back as a sentence.
    void openPath(const QString& path);
    /// Shows the first and draws the second beside it, on the same axis.
    void compare(const QString& shownId, const QString& otherId);
    /// Shows this run, live or archived.
    void show(store::RunRef run);
    /// The run is gone: another run is shown in its place, or none.
    void leave(const store::RunLocator& gone);
    void setFocused(bool on);
    void refreshArchive();
    void tick(); ///< also called by tests

Q_SIGNALS:
    void pulseChanged();
    void connectionsChanged();
    void runOpened();
    void logGrew(); ///< the shown run's
    void archiveListed(); ///< the first time, and after every refresh
    void problem(const QString& sentence);

private:
    store::RunRef runById(const QString& id) const;
    void addOutside(const store::RunLocator& run);
    void askCatalog();
    void takeCatalog(const std::shared_ptr<const store::Catalog>& catalog);
    void pollRuns();
    void pollRun();
    void everySecond();
    QString shownName() const;
    store::RunSummary summaryOf(const store::RunRef& run) const;

    AppContext m_context;
    views::ViewState* m_state;
    JobThread* m_jobs;
    store::QueryPool::ViewId m_queryId;
    store::QueryPool::ViewId m_compareId;
    std::vector<store::RunLocator> m_outside; ///< runs that were opened from elsewhere
    items::RunsModel m_runs;
    std::vector<store::RunRef> m_live;
    Pulse m_pulse;
    std::vector<ConnectionInfo> m_connections;
    QTimer m_timer;
    QElapsedTimer m_second;
    QElapsedTimer m_lastTick;
    qint64 m_longestGapMs = 0;
    int m_intervalMs = 0;
    std::unique_ptr<StoreNews> m_news; ///< null without a store
    bool m_isListKnown = false;
    bool m_isNewlyShown = true; ///< whatever it has is news
    bool m_isDirectoryNew = false;
    std::int64_t m_secondStep = -1;
    std::uint64_t m_secondSamples = 0;
    std::set<std::string> m_toldDamage; ///< of the run shown
    bool m_opened = false; ///< something was opened, by the user or by itself
    bool m_listing = false;
    bool m_listAgain = false;
    bool m_wasLive = false;
};

}
