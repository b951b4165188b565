// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <telltale/common/comparisonloader.h>
#include <telltale/store/querypool.h>
#include <telltale/store/runhandle.h>

#include "appcontext.h"
#include "pulsemeter.h"
#include "runlist.h"

namespace telltale::views {
class ViewState;
}

namespace telltale::store {
class StoreService;
}

namespace telltale::shell {

class JobThread;
class StoreNews;

/// Which run the views show, and its clock: a tick (30 Hz, 10 Hz unfocused) that takes what the store has told, raises
/// the visible range, asks for newer directories, and opens the first live run by itself. Thread: gui; catalogs are
/// read in the query pool.
class RunDriver : public QObject {
    Q_OBJECT
public:
    RunDriver(const AppContext& context, views::ViewState* state, JobThread* jobs, QObject* parent);
    ~RunDriver() override;

    items::RunsModel* runs() { return &m_runs.model(); }
    const Pulse& pulse() const { return m_meter.pulse(); }
    const std::vector<ConnectionInfo>& connections() const { return m_connections; }

    /// Takes its news from now on; the store outlives this. Once.
    void follow(const store::StoreService& service);
    void openById(const QString& id);
    /// A capsule anywhere, or an id; a problem comes back as a sentence.
    void openPath(const QString& path);
    /// Shows the first and holds the others against it, on the same axis.
    void compare(const QString& shownId, const QStringList& otherIds);
    store::RunRef runById(const QString& id) { return m_runs.byId(id); } ///< null where there is none
    /// Shows this run, live or archived.
    void show(store::RunRef run);
    /// The run is gone: another run is shown in its place, or none.
    void leave(const store::RunLocator& gone);
    /// The same runs in other places: where one is shown, it stays so, with what was seen of it.
    void moved(const std::map<store::RunLocator, store::RunLocator>& places);
    void setFocused(bool on);
    void refreshArchive() { m_runs.refreshArchive(); }
    void tick(); ///< also called by tests

Q_SIGNALS:
    void pulseChanged();
    void stepReached(); ///< of the pulse, before the next one
    void connectionsChanged();
    void runOpened();
    void runMoved(); ///< the shown one
    void logGrew(); ///< the shown run's
    void archiveListed(); ///< the first time, and after every refresh
    void problem(const QString& sentence);

private:
    void askCatalog();
    void takeCatalog(const std::shared_ptr<const store::Catalog>& catalog);
    void compareWith(const QStringList& ids); ///< the shown run
    void readRenamed();
    void tellDamage(const std::string& damage);
    void verify();
    void pollRuns();
    void pollRun();
    void giveAgents(); ///< of the shown run, to the views
    void everySecond();

    AppContext m_context;
    views::ViewState* m_state;
    JobThread* m_jobs;
    RunList m_runs;
    store::QueryPool::ViewId m_queryId;
    views::ComparisonLoader m_comparison;
    std::map<store::RunLocator, QStringList> m_comparedWith; ///< ids, of runs that were shown before
    PulseMeter m_meter;
    std::vector<ConnectionInfo> m_connections;
    QTimer m_timer;
    QTimer m_verifyTimer;
    QElapsedTimer m_lastTick;
    int m_intervalMs = 0;
    std::unique_ptr<StoreNews> m_news; ///< null without a store
    bool m_isListKnown = false;
    bool m_isNewlyShown = true; ///< whatever it has is news
    bool m_isDirectoryNew = false;
    std::set<std::string> m_toldDamage; ///< of the run shown
    bool m_opened = false; ///< something was opened, by the user or by itself
    bool m_wasLive = false;
};

}
