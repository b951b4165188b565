// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <telltale/settings/settings.h>

#include "windowparts.h"

namespace telltale::shell {

class JobThread;

/// What a window looked like at its last end, brought back at its start, and kept while it lives: one that is killed
/// has had no time to say it. Thread: gui; the file is written on the job thread.
class Session : public QObject {
    Q_OBJECT
public:
    static constexpr QSize kFrameSize { 16, 48 }; ///< what a window manager puts around the window

    /// `parts` are looked at from begin() on, and outlive it.
    Session(WindowParts* parts, settings::Settings settings, JobThread* jobs, QObject* parent);

    /// When all parts are there: the window, its panels and its views now; the run when the archive has been listed,
    /// and what was chosen in it when its catalog is there.
    void begin();
    /// The user has chosen a run before that of the last session was there.
    void giveUpRun() { m_isRestoring = false; }
    bool isListed() const { return m_isListed; } ///< the archive has been, and the run to begin with is being opened

    settings::Settings& settings() { return m_settings; } ///< those that only the user changes
    /// What would be restored at the next start.
    settings::Settings current() const;
    void save();

Q_SIGNALS:
    void restoring(); ///< the run of the last session is open and gets what was chosen in it

private:
    void restoreWindow();
    void openRun();
    void takeCatalog();
    void restoreChoices();
    void saveIfChanged();

    WindowParts* m_parts;
    JobThread* m_jobs;
    settings::Settings m_settings;
    settings::Settings m_saved; ///< as the file has them, once they were looked at
    QTimer m_saveTimer;
    bool m_isListed = false;
    bool m_isRestoring = true; ///< until the run of the last session is open or given up
};

}
