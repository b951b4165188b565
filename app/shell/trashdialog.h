// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <QDialog>

#include <telltale/core/expected.h>
#include <telltale/store/trash.h>

class QPushButton;
class QStandardItemModel;

namespace telltale::views {
class PanelTree;
class RoleLabel;
}

namespace telltale::shell {

class JobThread;

/// What was deleted and can be brought back. Nothing goes for good without a question. Thread: gui; the trash is read
/// and changed on the job thread.
class TrashDialog : public QDialog {
    Q_OBJECT
public:
    using Confirm = std::function<bool(const QString& question)>;

    TrashDialog(std::string dataDir, JobThread* jobs, Confirm confirm, QWidget* parent);

Q_SIGNALS:
    void restored(const QStringList& names);

private:
    void makeWidgets();
    void read();
    void take(std::vector<store::TrashedRun> trashed);
    void fit();
    void eraseSelected();
    /// Does it to what is selected; what is refused is said, and the list read again.
    void work(const std::function<Expected<void>(const store::TrashedRun&)>& each, bool isRestoring);
    std::vector<store::TrashedRun> selected() const;
    QString shownFolder(const store::TrashedRun& run) const;

    const std::string m_dataDir;
    JobThread* m_jobs;
    Confirm m_confirm;
    std::vector<store::TrashedRun> m_trashed; ///< in the order of the rows
    bool m_isBusy = false;
    QStandardItemModel* m_model;
    views::PanelTree* m_tree;
    views::RoleLabel* m_all;
    views::RoleLabel* m_said;
    QPushButton* m_restore;
    QPushButton* m_erase;
};

}
