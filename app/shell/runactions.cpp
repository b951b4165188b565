// SPDX-License-Identifier: GPL-3.0-or-later
#include "runactions.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QPointer>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>

#include "imports.h"
#include "jobthread.h"
#include "rundriver.h"
#include "toaster.h"

namespace telltale::shell {

RunActions::RunActions(RunDriver* driver, JobThread* jobs, store::QueryPool* queries, Toaster* toaster,
    const std::string& dataDir, QWidget* window)
    : QObject(window)
    , m_driver(driver)
    , m_jobs(jobs)
    , m_queries(queries)
    , m_toaster(toaster)
    , m_dataDir(dataDir)
    , m_window(window)
{
}

const store::RunSummary* RunActions::find(const QString& id) const
{
    return m_driver->runs()->runAt(m_driver->runs()->indexOf(id));
}

void RunActions::finish(const Expected<void>& result, const QString& done)
{
    items::assertGuiThread();
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
    bool accepted = false;
    const QString name = QInputDialog::getText(
        m_window, tr("Rename the run"), tr("Name:"), QLineEdit::Normal, QString::fromStdString(run->name), &accepted)
                             .trimmed();
    if (accepted && !name.isEmpty())
        renameTo(id, name);
}

void RunActions::renameTo(const QString& id, const QString& name)
{
    const store::RunSummary* run = find(id);
    if (!run)
        return;
    m_jobs->submit([this, locator = run->locator, name]() -> JobThread::Delivery {
        Expected<void> result;
        m_queries->withReadersClosed([&] { result = store::renameRun(locator, name.toStdString()); });
        return [this, name, result] { finish(result, tr("Renamed to %1").arg(name)); };
    });
}

void RunActions::remove(const QString& id)
{
    const store::RunSummary* run = find(id);
    if (!run)
        return;
    const store::RunLocator locator = run->locator;
    const QString name = QString::fromStdString(run->name);
    const QString question = tr("Delete “%1” (%2)? It goes to the trash of the data directory.")
                                 .arg(m_driver->runs()->shownName(*run), views::formatBytes(run->fileBytes));
    if (m_confirm ? !m_confirm(question) : !confirmByBox(question))
        return;
    m_jobs->submit([this, locator, name, dataDir = m_dataDir]() -> JobThread::Delivery {
        Expected<store::TrashedRun> trashed;
        m_queries->withReadersClosed([&] { trashed = store::trashRun(dataDir, locator); });
        return [this, name, locator, trashed] {
            if (!trashed)
                return finish(tl::unexpected(trashed.error()), {});
            m_driver->leave(locator);
            m_toaster->post(Toaster::Severity::Good, tr("Deleted %1").arg(name), tr("Undo"),
                [self = QPointer(this), name, run = *trashed] {
                    if (self)
                        self->restore(run, name);
                });
            m_driver->refreshArchive();
        };
    });
}

void RunActions::restore(const store::TrashedRun& run, const QString& name)
{
    m_jobs->submit([this, run, name]() -> JobThread::Delivery {
        const auto restored = store::restoreRun(run);
        const Expected<void> result = restored ? Expected<void>() : tl::unexpected(restored.error());
        return [this, name, result] { finish(result, tr("%1 is back").arg(name)); };
    });
}

std::unique_ptr<QMessageBox> RunActions::questionBox(const QString& question) const
{
    auto box = std::make_unique<QMessageBox>(
        QMessageBox::Question, tr("Delete the run"), question, QMessageBox::Cancel, m_window);
    box->setTextFormat(Qt::PlainText); // a run's name stands in it
    box->addButton(tr("Delete"), QMessageBox::DestructiveRole);
    box->setDefaultButton(QMessageBox::Cancel);
    return box;
}

bool RunActions::confirmByBox(const QString& question) const
{
    const auto box = questionBox(question);
    box->exec();
    return box->clickedButton() && box->buttonRole(box->clickedButton()) == QMessageBox::DestructiveRole;
}

void RunActions::exportCopy(const QString& id)
{
    const store::RunSummary* run = find(id);
    if (!run)
        return;
    const QString from = QString::fromStdString(run->locator.text());
    const QString to = QFileDialog::getSaveFileName(m_window, tr("Export a copy of the run"),
        QDir::home().filePath(QFileInfo(from).fileName()), tr("Telltale runs (*.telltale)"));
    if (to.isEmpty())
        return;
    copyTo(id, to);
}

void RunActions::copyTo(const QString& id, const QString& path)
{
    const store::RunSummary* run = find(id);
    if (!run)
        return;
    m_jobs->submit([this, from = run->locator, path]() -> JobThread::Delivery {
        return [this, path, copied = store::copyRun(from, path.toStdString())] {
            finish(copied, tr("Written: %1").arg(path));
        };
    });
}

void RunActions::askImport()
{
    const QString path = QFileDialog::getOpenFileName(
        m_window, tr("Import a run"), QString(), tr("Telltale runs (*.telltale);;All files (*)"));
    if (path.isEmpty())
        return;
    if (m_imports && !path.endsWith(QLatin1String(".telltale")))
        m_imports->take({ path });
    else
        importFile(path);
}

void RunActions::importFile(const QString& path)
{
    m_jobs->submit([this, path, dataDir = m_dataDir]() -> JobThread::Delivery {
        return [this, imported = store::importRun(dataDir, path.toStdString())] {
            if (!imported) {
                m_toaster->post(Toaster::Severity::Warning,
                    tr("This file cannot be imported: %1").arg(QString::fromStdString(imported.error().sentence())));
                return;
            }
            const QString to = QString::fromStdString(imported->locator.text());
            m_toaster->post(Toaster::Severity::Good, tr("Imported %1").arg(QFileInfo(to).fileName()));
            m_driver->refreshArchive();
            m_driver->openPath(to);
        };
    });
}

}
