// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <QObject>

#include <telltale/items/runsmodel.h>
#include <telltale/store/runhandle.h>

namespace telltale::shell {

class JobThread;

/// Whether it is being recorded here.
bool isLive(const store::RunRef& run);
/// Of a run that is open for recording: lost as soon as no rank of it is connected, whatever may still come back.
store::RunState stateOf(const store::LiveRun& live);

/// Which runs there are: those that are recorded, those of the data directory, those that were opened from elsewhere.
/// Thread: gui; the archive is listed on the job thread.
class RunList : public QObject {
    Q_OBJECT
public:
    RunList(std::string dataDir, JobThread* jobs, QObject* parent);

    items::RunsModel& model() { return m_model; }
    const std::vector<store::RunRef>& live() const { return m_live; }
    void setLive(std::vector<store::RunRef> runs);
    /// The live ones' figures, as they are now.
    void updateLive();
    void refreshArchive();

    /// Null when there is none.
    store::RunRef byId(const QString& id) const;
    /// One that is not known yet is from elsewhere, and listed from now on.
    store::RunRef byLocator(const store::RunLocator& locator);
    /// It is gone: nobody looks for it any more.
    void forget(const store::RunLocator& gone) { std::erase(m_outside, gone); }
    /// Another one than this; empty when there is none.
    QString idOfAnother(const store::RunLocator& run) const;

Q_SIGNALS:
    void archiveListed(); ///< the first time, and after every refresh
    void problem(const QString& sentence); ///< of the archive; once while it lasts

private:
    void readProfiles();
    void tell(const std::vector<std::string>& problems);

    const std::string m_dataDir;
    JobThread* m_jobs;
    items::RunsModel m_model;
    std::vector<store::RunRef> m_live;
    std::vector<store::RunLocator> m_outside;
    std::set<std::string> m_told; ///< problems of the newest list
    bool m_listing = false;
    bool m_listAgain = false;
    bool m_hasProfiles = false; ///< were asked for: from then on they are kept as new as the list
    bool m_isReadingProfiles = false;
    std::chrono::milliseconds m_profileShare {}; ///< what one piece of that work may take
};

}
