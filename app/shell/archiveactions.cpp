// SPDX-License-Identifier: GPL-3.0-or-later
#include "archiveactions.h"

#include <algorithm>
#include <map>
#include <utility>

#include <QPointer>

#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/store/folders.h>
#include <telltale/store/pins.h>
#include <telltale/store/querypool.h>

#include "folderdialog.h"
#include "jobthread.h"
#include "runactions.h"
#include "rundriver.h"
#include "toaster.h"
#include "trashdialog.h"

namespace telltale::shell {

using items::RunsModel;

ArchiveActions::ArchiveActions(RunDriver* driver, JobThread* jobs, store::QueryPool* queries, Toaster* toaster,
    RunActions* questions, std::string dataDir, QWidget* window)
    : QObject(window)
    , m_driver(driver)
    , m_jobs(jobs)
    , m_queries(queries)
    , m_toaster(toaster)
    , m_questions(questions)
    , m_dataDir(std::move(dataDir))
    , m_window(window)
{
}

const store::RunSummary* ArchiveActions::find(const QString& id) const
{
    return m_driver->runs()->runAt(m_driver->runs()->indexOf(id));
}

void ArchiveActions::refuse(const QString& sentence) const
{
    m_toaster->post(Toaster::Severity::Warning, sentence);
}

QStringList ArchiveActions::movable(const QStringList& ids) const
{
    QStringList found;
    for (const QString& id : ids) {
        const store::RunSummary* run = find(id);
        if (!run)
            continue;
        const QString name = items::lineText(m_driver->runs()->shownName(*run));
        if (run->isElsewhere)
            refuse(tr("%1 lies in %2, which is only read here: import it, and move the copy")
                       .arg(name, QString::fromStdString(run->folder)));
        else if (run->state == store::RunState::Live || !m_driver->runs()->isOurs(m_driver->runs()->indexOf(id)))
            refuse(tr("%1 is being recorded: move it when it has ended").arg(name));
        else
            found.append(id);
    }
    return found;
}

void ArchiveActions::askFolder(const QStringList& ids)
{
    const QStringList runs = movable(ids);
    if (runs.isEmpty())
        return;
    const QString first = QString::fromStdString(find(runs.front())->folder);
    const bool isOne = std::all_of(
        runs.begin(), runs.end(), [&](const QString& id) { return QString::fromStdString(find(id)->folder) == first; });
    const QString what = runs.size() == 1 ? items::lineText(m_driver->runs()->shownName(*find(runs.front())))
                                          : tr("%n runs", nullptr, static_cast<int>(runs.size()));
    auto* dialog
        = new FolderDialog(what, isOne ? std::optional(first) : std::nullopt, m_driver->runs()->folders(), m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, runs] { moveTo(runs, dialog->folder()); });
    dialog->open();
}

void ArchiveActions::moveTo(const QStringList& ids, const QString& folder)
{
    std::vector<Carry> carries;
    for (const QString& id : movable(ids)) {
        const store::RunSummary* run = find(id);
        if (run->folder != folder.toStdString())
            carries.push_back({ run->locator, run->folder, folder.toStdString(), QString::fromStdString(run->name) });
    }
    if (!carries.empty())
        carry(std::move(carries), false);
}

void ArchiveActions::carry(std::vector<Carry> carries, bool isUndoing)
{
    items::assertGuiThread();
    m_jobs->submit([this, carries = std::move(carries), dataDir = m_dataDir, isUndoing]() -> JobThread::Delivery {
        std::vector<Carry> done; // and where each is now
        std::vector<store::RunLocator> before;
        QStringList refused;
        m_queries->withReadersClosed([&] {
            for (const Carry& one : carries) {
                const auto moved = store::moveRun(dataDir, one.run, one.to);
                if (!moved) {
                    refused.append(items::saidwords::of(moved.error()));
                    continue;
                }
                before.push_back(one.run);
                done.push_back({ *moved, one.to, one.from, one.name });
            }
        });
        return [this, done, before, refused, isUndoing] {
            std::map<store::RunLocator, store::RunLocator> places;
            for (std::size_t i = 0; i < done.size(); ++i)
                places.emplace(before[i], done[i].run);
            m_driver->moved(places);
            for (const QString& sentence : refused)
                refuse(sentence);
            tellMoved(done, isUndoing);
            m_driver->refreshArchive();
        };
    });
}

/// `moved`: as it would be taken back.
void ArchiveActions::tellMoved(const std::vector<Carry>& moved, bool isUndoing)
{
    if (moved.empty())
        return;
    const QString what = moved.size() == 1 ? items::lineText(moved.front().name)
                                           : tr("%n runs", nullptr, static_cast<int>(moved.size()));
    if (isUndoing) {
        m_toaster->post(Toaster::Severity::Good, tr("Moved back: %1").arg(what));
        return;
    }
    const QString folder = QString::fromStdString(moved.front().from);
    m_toaster->post(Toaster::Severity::Good,
        folder.isEmpty() ? tr("Moved out of the folders: %1").arg(what) : tr("Moved to %1: %2").arg(folder, what),
        tr("Undo"), [self = QPointer(this), moved] {
            if (self)
                self->carry(moved, true);
        });
}

bool ArchiveActions::isAny(const QStringList& ids, bool isPinned) const
{
    return std::any_of(ids.begin(), ids.end(), [&](const QString& id) {
        const store::RunSummary* run = find(id);
        return run && run->isPinned == isPinned;
    });
}

void ArchiveActions::setPinned(const QStringList& ids, bool on)
{
    items::assertGuiThread();
    std::vector<std::pair<store::RunLocator, QString>> runs;
    for (const QString& id : ids) {
        if (const store::RunSummary* run = find(id))
            runs.emplace_back(run->locator, QString::fromStdString(run->name));
    }
    m_jobs->submit([this, runs, on, dataDir = m_dataDir]() -> JobThread::Delivery {
        QStringList done;
        QStringList refused;
        auto pins = store::Pins::read(dataDir);
        if (!pins)
            refused.append(items::saidwords::of(pins.error()));
        for (const auto& [run, name] : runs) {
            if (!pins || pins->has(run) == on)
                continue;
            if (const auto set = pins->set(run, on); set)
                done.append(name);
            else
                refused.append(items::saidwords::of(set.error()));
        }
        return [this, done, refused, on] {
            for (const QString& sentence : refused)
                refuse(sentence);
            const QString what = done.size() == 1 ? items::lineText(done.front())
                                                  : tr("%n runs", nullptr, static_cast<int>(done.size()));
            if (!done.isEmpty())
                m_toaster->post(Toaster::Severity::Good,
                    on ? tr("Pinned, and safe from every rule: %1").arg(what)
                       : tr("Not pinned any more: %1").arg(what));
            m_driver->refreshArchive();
        };
    });
}

void ArchiveActions::showTrash()
{
    auto* dialog = new TrashDialog(
        m_dataDir, m_jobs,
        [this](const QString& question) {
            return m_questions->isConfirmed(question, tr("Delete for good"), tr("Delete for good"));
        },
        m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &TrashDialog::restored, this, [this](const QStringList& names) {
        m_toaster->post(Toaster::Severity::Good,
            tr("Back in the list: %1")
                .arg(names.size() == 1 ? items::lineText(names.front())
                                       : tr("%n runs", nullptr, static_cast<int>(names.size()))));
        m_driver->refreshArchive();
    });
    dialog->open();
}

}
