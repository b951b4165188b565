// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <QMessageBox>
#include <QObject>

#include <telltale/store/archive.h>
#include <telltale/store/querypool.h>
#include <telltale/store/trash.h>

namespace telltale::shell {

class Imports;
class JobThread;
class RunDriver;
class Toaster;

/// Rename, delete and copy of archived runs: asks where asking is due, works on the job thread, says what came of it.
/// Thread: gui.
class RunActions : public QObject {
    Q_OBJECT
public:
    RunActions(RunDriver* driver, JobThread* jobs, store::QueryPool* queries, Toaster* toaster,
        const std::string& dataDir, QWidget* window);

    void open(); ///< a file dialog
    void askImport(); ///< a file dialog
    /// Keeps a copy in the data directory and shows it. The file that is imported stays as it is.
    void importFile(const QString& path);
    /// Who takes what another tool recorded.
    void setImports(Imports* imports) { m_imports = imports; }
    /// Asks for a name. Neither this nor remove() needs the run closed: what of it is open here is closed meanwhile.
    void rename(const QString& id);
    void renameTo(const QString& id, const QString& name);
    /// To the trash, after a confirmation; another run is shown then, and what says so offers to take them back.
    void remove(const QStringList& ids);
    /// Who asks before something is lost; a message box unless a test answers. True = do it.
    void setConfirm(std::function<bool(const QString& question)> confirm) { m_confirm = std::move(confirm); }
    /// Asks; `action` is what is done where the answer is yes.
    bool isConfirmed(const QString& question, const QString& title, const QString& action) const;
    /// The box that asks.
    std::unique_ptr<QMessageBox> questionBox(
        const QString& question, const QString& title, const QString& action) const;
    void exportCopy(const QString& id);
    void copyTo(const QString& id, const QString& path);

private:
    const store::RunSummary* find(const QString& id) const;
    void tellDeleted(const std::vector<store::TrashedRun>& gone);
    void restore(const std::vector<store::TrashedRun>& runs);
    void finish(const Expected<void>& result, const QString& done);

    RunDriver* m_driver;
    JobThread* m_jobs;
    store::QueryPool* m_queries;
    Toaster* m_toaster;
    Imports* m_imports = nullptr;
    std::function<bool(const QString& question)> m_confirm;
    std::string m_dataDir;
    QWidget* m_window;
};

}
