// SPDX-License-Identifier: GPL-3.0-or-later
#include "imports.h"

#include <atomic>
#include <cmath>
#include <mutex>

#include <QTimer>

#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>
#include <telltale/store/runfiles.h>

#include "jobthread.h"
#include "rundriver.h"
#include "toaster.h"

namespace telltale::shell {
namespace {

constexpr int kTellMs = 200;

/// What a person calls the path: its last part, and of a folder "out" the one above, too.
QString lastParts(const QString& path)
{
    return path.section(QLatin1Char('/'), -2, -1, QString::SectionSkipEmpty);
}

}

/// Of the work under way.
struct Imports::Shared {
    std::atomic<double> share { 0 };
    std::atomic<int> canceled { 0 }; ///< how often; work that began before ends
    std::mutex mutex;
    QString path; ///< under the mutex
};

Imports::Imports(const AppContext& context, RunDriver* driver, Toaster* toaster, QObject* parent)
    : QObject(parent)
    , m_context(context)
    , m_driver(driver)
    , m_toaster(toaster)
    , m_timer(new QTimer(this))
    , m_shared(std::make_shared<Shared>())
    , m_jobs(std::make_unique<JobThread>())
{
    m_timer->setInterval(kTellMs);
    connect(m_timer, &QTimer::timeout, this, &Imports::tell);
}

Imports::~Imports()
{
    ++m_shared->canceled;
}

void Imports::take(const QStringList& paths)
{
    items::assertGuiThread();
    const auto suffix = QLatin1String(store::kCapsuleSuffix.data(), static_cast<int>(store::kCapsuleSuffix.size()));
    for (const QString& path : paths) {
        if (path.endsWith(suffix) || !m_context.importFile)
            m_driver->openPath(path);
        else
            import(path);
    }
}

void Imports::import(const QString& path)
{
    ++m_waiting;
    m_timer->start();
    m_jobs->submit([this, path, shared = m_shared, begun = m_shared->canceled.load(),
                       importFile = m_context.importFile]() -> JobThread::Delivery {
        {
            const std::lock_guard lock(shared->mutex);
            shared->path = path;
        }
        shared->share = 0;
        const auto goesOn = [&shared, begun](double share) {
            shared->share = share;
            return shared->canceled == begun;
        };
        Expected<store::ImportedRun> imported = failure(ErrorCode::Canceled, "the import was canceled");
        if (goesOn(0))
            imported = importFile(path.toStdString(), goesOn);
        return [this, path, imported] { finish(path, imported); };
    });
    tell();
}

void Imports::cancel()
{
    items::assertGuiThread();
    ++m_shared->canceled;
}

void Imports::tell()
{
    if (m_waiting == 0)
        return;
    QString path;
    {
        const std::lock_guard lock(m_shared->mutex);
        path = m_shared->path;
    }
    const int percent = static_cast<int>(std::floor(m_shared->share * 100));
    const QString what = tr("Importing %1: %2 %").arg(lastParts(path), QString::number(percent));
    Q_EMIT progress(m_waiting > 1 ? tr("%1, %2 more wait").arg(what, QString::number(m_waiting - 1)) : what);
}

void Imports::finish(const QString& path, const Expected<store::ImportedRun>& imported)
{
    items::assertGuiThread();
    if (--m_waiting == 0) {
        m_timer->stop();
        Q_EMIT progress({});
    }
    const QString name = lastParts(path);
    if (!imported) {
        m_toaster->post(Toaster::Severity::Warning,
            imported.error().code == ErrorCode::Canceled
                ? tr("The import of %1 was canceled: nothing is left of it").arg(name)
                : tr("%1 cannot be imported: %2").arg(name, items::saidwords::of(imported.error())));
        return;
    }
    if (imported->wasHere)
        m_toaster->post(
            Toaster::Severity::Notice, tr("%1 is here already: “telltale import --again” imports it anew").arg(name));
    else if (imported->damage.empty())
        m_toaster->post(Toaster::Severity::Good, tr("Imported %1").arg(name));
    else
        m_toaster->post(Toaster::Severity::Notice,
            tr("Imported %1; not all of it: %2").arg(name, QString::fromStdString(imported->damage.front())));
    m_driver->refreshArchive();
    m_driver->openPath(QString::fromStdString(imported->locator.text()));
}

}
