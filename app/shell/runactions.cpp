// SPDX-License-Identifier: GPL-3.0-or-later
#include "runactions.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QPointer>
#include <QPushButton>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>

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
        m_toaster->post(Toaster::Severity::Warning, items::saidwords::of(result.error()));
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

void RunActions::remove(const QStringList& ids)
{
    std::vector<store::RunLocator> runs;
    std::uint64_t bytes = 0;
    QString name;
    for (const QString& id : ids) {
        const QModelIndex index = m_driver->runs()->indexOf(id);
        const store::RunSummary* run = m_driver->runs()->isOurs(index) ? find(id) : nullptr;
        if (!run)
            continue;
        runs.push_back(run->locator);
        bytes += run->fileBytes;
        name = m_driver->runs()->shownName(*run);
    }
    if (runs.empty())
        return;
    const QString question = runs.size() == 1
        ? tr("Delete “%1” (%2)? It goes to the trash of the data directory.").arg(name, views::formatBytes(bytes))
        : tr("Delete %n runs (%1)? They go to the trash of the data directory.", nullptr, static_cast<int>(runs.size()))
              .arg(views::formatBytes(bytes));
    if (!isConfirmed(question, tr("Delete the run"), tr("Delete")))
        return;
    m_jobs->submit([this, runs = std::move(runs), dataDir = m_dataDir]() -> JobThread::Delivery {
        std::vector<store::TrashedRun> gone;
        std::vector<store::RunLocator> from;
        QStringList refused;
        m_queries->withReadersClosed([&] {
            for (const store::RunLocator& run : runs) {
                auto trashed = store::trashRun(dataDir, run);
                if (!trashed) {
                    refused.append(items::saidwords::of(trashed.error()));
                    continue;
                }
                from.push_back(run);
                gone.push_back(std::move(*trashed));
            }
        });
        return [this, gone, from, refused] {
            for (const QString& sentence : refused)
                m_toaster->post(Toaster::Severity::Warning, sentence);
            for (const store::RunLocator& run : from)
                m_driver->leave(run);
            tellDeleted(gone);
            m_driver->refreshArchive();
        };
    });
}

namespace {

QString namesOf(const std::vector<store::TrashedRun>& runs)
{
    return runs.size() == 1 ? QString::fromStdString(runs.front().run.name)
                            : RunActions::tr("%n runs", nullptr, static_cast<int>(runs.size()));
}

}

void RunActions::tellDeleted(const std::vector<store::TrashedRun>& gone)
{
    if (gone.empty())
        return;
    m_toaster->post(
        Toaster::Severity::Good, tr("Deleted %1").arg(namesOf(gone)), tr("Undo"), [self = QPointer(this), gone] {
            if (self)
                self->restore(gone);
        });
}

void RunActions::restore(const std::vector<store::TrashedRun>& runs)
{
    m_jobs->submit([this, runs]() -> JobThread::Delivery {
        std::vector<store::TrashedRun> back;
        QStringList refused;
        for (const store::TrashedRun& run : runs) {
            if (const auto restored = store::restoreRun(run); restored)
                back.push_back(run);
            else
                refused.append(items::saidwords::of(restored.error()));
        }
        return [this, back, refused] {
            for (const QString& sentence : refused)
                m_toaster->post(Toaster::Severity::Warning, sentence);
            if (!back.empty())
                m_toaster->post(Toaster::Severity::Good, tr("Back in the list: %1").arg(namesOf(back)));
            m_driver->refreshArchive();
        };
    });
}

std::unique_ptr<QMessageBox> RunActions::questionBox(
    const QString& question, const QString& title, const QString& action) const
{
    QWidget* above = QApplication::activeModalWidget();
    auto box = std::make_unique<QMessageBox>(
        QMessageBox::NoIcon, title, question, QMessageBox::Cancel, above ? above : m_window);
    box->setTextFormat(Qt::PlainText); // a run's name stands in it
    box->addButton(action, QMessageBox::DestructiveRole);
    box->button(QMessageBox::Cancel)->setText(tr("Cancel"));
    box->button(QMessageBox::Cancel)->setIcon({});
    box->setDefaultButton(QMessageBox::Cancel);
    return box;
}

bool RunActions::isConfirmed(const QString& question, const QString& title, const QString& action) const
{
    if (m_confirm)
        return m_confirm(question);
    const auto box = questionBox(question, title, action);
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
                    tr("This file cannot be imported: %1").arg(items::saidwords::of(imported.error())));
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
