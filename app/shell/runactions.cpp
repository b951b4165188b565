// SPDX-License-Identifier: GPL-3.0-or-later
#include "runactions.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMessageBox>
#include <QPushButton>

#include <telltale/common/theme.h>

#include "jobthread.h"
#include "rundriver.h"
#include "toaster.h"

namespace telltale::shell {

RunActions::RunActions(RunDriver* driver, JobThread* jobs, Toaster* toaster, QWidget* window)
    : QObject(window)
    , m_driver(driver)
    , m_jobs(jobs)
    , m_toaster(toaster)
    , m_window(window)
{
}

const store::RunSummary* RunActions::find(const QString& id) const
{
    return m_driver->runs()->runAt(m_driver->runs()->indexOf(id));
}

void RunActions::finish(const Expected<void>& result, const QString& done)
{
    if (result)
        m_toaster->post(Toaster::Severity::Good, done);
    else
        m_toaster->post(Toaster::Severity::Warning, QString::fromStdString(result.error().sentence()));
    m_driver->refreshArchive();
}

void RunActions::open()
{
    const QString path = QFileDialog::getOpenFileName(
        m_window, tr("Open a run"), QString(), tr("Telltale runs (*.telltale);;All files (*)"));
    if (!path.isEmpty())
        m_driver->openPath(path);
}

void RunActions::rename(const QString& id)
{
    const store::RunSummary* run = find(id);
    if (!run)
        return;
    const std::string path = run->path;
    bool accepted = false;
    const QString name = QInputDialog::getText(
        m_window, tr("Rename the run"), tr("Name:"), QLineEdit::Normal, QString::fromStdString(run->name), &accepted)
                             .trimmed();
    if (!accepted || name.isEmpty())
        return;
    m_jobs->submit([this, path, name]() -> JobThread::Delivery {
        return [this, name, result = store::renameRun(path, name.toStdString())] {
            finish(result, tr("The run is now called %1").arg(name));
        };
    });
}

void RunActions::remove(const QString& id)
{
    const store::RunSummary* run = find(id);
    if (!run)
        return;
    const std::string path = run->path;
    const QString name = QString::fromStdString(run->name);
    QMessageBox box(QMessageBox::Question, tr("Delete the run"),
        tr("Delete “%1” (%2)? Its file is removed and cannot be brought back.")
            .arg(name, views::formatBytes(run->fileBytes)),
        QMessageBox::Cancel, m_window);
    QPushButton* confirm = box.addButton(tr("Delete"), QMessageBox::DestructiveRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    if (box.clickedButton() != confirm)
        return;
    m_jobs->submit([this, path, name]() -> JobThread::Delivery {
        return [this, name, result = store::deleteRun(path)] { finish(result, tr("Deleted %1").arg(name)); };
    });
}

void RunActions::exportCopy(const QString& id)
{
    const store::RunSummary* run = find(id);
    if (!run)
        return;
    const QString from = QString::fromStdString(run->path);
    const QString to = QFileDialog::getSaveFileName(m_window, tr("Export a copy of the run"),
        QDir::home().filePath(QFileInfo(from).fileName()), tr("Telltale runs (*.telltale)"));
    if (to.isEmpty())
        return;
    m_jobs->submit([this, from, to]() -> JobThread::Delivery {
        QFile::remove(to + QStringLiteral(".part"));
        QFile source(from);
        const bool copied = source.copy(to + QStringLiteral(".part"));
        QFile::remove(to);
        const bool done = copied && QFile::rename(to + QStringLiteral(".part"), to);
        return [this, to, done, reason = source.errorString()] {
            if (done)
                m_toaster->post(Toaster::Severity::Good, tr("Written: %1").arg(to));
            else
                m_toaster->post(Toaster::Severity::Warning, tr("Cannot write %1: %2").arg(to, reason));
        };
    });
}

}
