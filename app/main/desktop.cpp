// SPDX-License-Identifier: GPL-3.0-or-later
#include "desktop.h"

#include <atomic>
#include <memory>
#include <optional>

#include <QApplication>
#include <QIcon>
#include <QPointer>
#include <QSystemTrayIcon>

#include <telltale/common/viewstate.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/items/guithread.h>

#include "log.h"
#include "signals.h"

namespace telltale::app {

void nameApplication()
{
    QCoreApplication::setApplicationName(QStringLiteral("Telltale"));
    QCoreApplication::setApplicationVersion(QStringLiteral(TELLTALE_VERSION));
    QGuiApplication::setDesktopFileName(QStringLiteral("telltale"));
}

namespace {

constexpr int kLockRetryMs = 1000;
constexpr int kPortRetryMs = 5000; ///< naming who holds a port reads all processes

}

Desktop::Desktop(Backend& backend)
    : m_backend(backend)
{
    items::assertGuiThread();
    m_window = std::make_unique<shell::MainWindow>(context());
    followAlerts();
    followSteering();
    QObject::connect(&m_retryTimer, &QTimer::timeout, m_window.get(), [this] { retry(); });
    if (backend.isWaiting())
        m_retryTimer.start(backend.store() ? kPortRetryMs : kLockRetryMs);
}

shell::AppContext Desktop::context()
{
    Backend& backend = m_backend;
    shell::AppContext context;
    context.store = backend.store();
    context.queries = &backend.queries();
    context.dataDir = backend.dataDir();
    context.isWaiting = backend.isWaiting();
    context.captureProblem = QString::fromStdString(
        backend.isWaiting() ? backend.captureProblem().what : backend.captureProblem().sentence());
    // Asked each time: the server may have been stopped while the window still shows the last run.
    context.connections = [&backend] {
        return backend.server() != nullptr ? backend.server()->connections() : std::vector<ConnectionInfo>();
    };
    context.joinString
        = [&backend] { return backend.server() != nullptr ? backend.server()->joinString() : QString(); };
    if (backend.server() != nullptr) {
        context.steering = [&backend] {
            return backend.server() != nullptr ? backend.server()->steering() : std::vector<RunSteering>();
        };
        context.offerConfig = [this, &backend](const ConfigRequest& request) {
            if (backend.server() == nullptr)
                return;
            // The answer comes on the capture thread, perhaps when the window is gone.
            const QPointer<shell::MainWindow> window(m_window.get());
            backend.server()->offerConfig(request, [window](const Expected<RunSteering>& run) {
                if (run)
                    return;
                QMetaObject::invokeMethod(qApp, [window, why = QString::fromStdString(run.error().sentence())] {
                    if (window)
                        window->showProblem(why);
                });
            });
        };
    }
    context.importFile = [dataDir = backend.dataDir()](const std::string& path, const auto& goesOn) {
        return ingest::importAnything(dataDir, path, goesOn);
    };
    context.alerts = backend.alerts();
    context.runDemo = [this](const QStringList& faults) {
        DemoOptions options;
        options.fault = faults.value(0);
        if (auto started = startDemo(options); !started)
            m_window->showProblem(QString::fromStdString(started.error().sentence()));
    };
    return context;
}

void Desktop::followSteering()
{
    if (m_backend.server() == nullptr)
        return;
    // It calls on the capture thread; what changes again before the window has looked is one look.
    m_backend.server()->setSteeringWake(
        [window = QPointer(m_window.get()), isAsked = std::make_shared<std::atomic_bool>(false)] {
            if (isAsked->exchange(true))
                return;
            QMetaObject::invokeMethod(qApp, [window, isAsked] {
                *isAsked = false;
                if (window)
                    window->takeSteering();
            });
        });
}

void Desktop::retry()
{
    if (!m_backend.retry())
        return;
    m_window->takeRecording(context());
    followSteering();
    m_retryTimer.setInterval(kPortRetryMs); // of both, the lock was the first
    if (m_backend.isWaiting())
        return;
    m_retryTimer.stop();
    if (m_backend.server() != nullptr)
        writeLog(LogLevel::Info, "listening; join string: " + m_backend.server()->joinString().toStdString());
}

Desktop::~Desktop()
{
    if (m_backend.server() != nullptr)
        m_backend.server()->setSteeringWake({});
    m_demo.reset();
    m_window.reset();
}

void Desktop::followAlerts()
{
    notify::AlertService* alerts = m_backend.alerts();
    QObject::connect(
        alerts, &notify::AlertService::desktopWanted, m_window.get(), [this, alerts](const alerts::Alert& alert) {
            if (isLookedAt(alert))
                return;
            QApplication::alert(m_window.get());
            if (QGuiApplication::platformName() != QLatin1String("offscreen")) // nobody is there
                alerts->showOnDesktop(alert);
        });
    QObject::connect(alerts, &notify::AlertService::trayWanted, m_window.get(),
        [this](const QString& title, const QString& text, const notify::AlertPlace& place) {
            showInTray(title, text, place);
        });
    QObject::connect(alerts, &notify::AlertService::clicked, m_window.get(), &shell::MainWindow::showAlert);
}

/// Who has the run in the active window sees its card.
bool Desktop::isLookedAt(const alerts::Alert& alert) const
{
    const store::RunRef run = m_window->state()->run();
    return m_window->isActiveWindow() && run && run->locator.text() == alert.locator;
}

void Desktop::showInTray(const QString& title, const QString& text, const notify::AlertPlace& place)
{
    if (!QSystemTrayIcon::isSystemTrayAvailable())
        return;
    if (!m_tray) {
        m_tray = std::make_unique<QSystemTrayIcon>(m_window->windowIcon());
        m_tray->show();
        QObject::connect(m_tray.get(), &QSystemTrayIcon::messageClicked, m_window.get(),
            [this] { m_window->showAlert(m_inTray, {}); });
    }
    m_inTray = place;
    m_tray->showMessage(title, text, QSystemTrayIcon::Warning);
}

Expected<void> Desktop::startDemo(DemoOptions options)
{
    items::assertGuiThread();
    if (m_demo && m_demo->isRunning())
        return failure(ErrorCode::Busy, "the demo is already training");
    if (m_backend.server() == nullptr)
        return failure(m_backend.captureProblem().code,
            "the demo needs the capture server: " + m_backend.captureProblem().what, m_backend.captureProblem().todo);
    options.join = m_backend.server()->joinString();
    m_demo = std::make_unique<DemoRun>(std::move(options));
    QObject::connect(m_demo.get(), &DemoRun::finished, m_window.get(), [this] {
        m_window->setDemoStarting(false);
        if (!m_demo->problem().isEmpty())
            m_window->showProblem(m_demo->problem());
    });
    auto started = m_demo->start();
    m_window->setDemoStarting(started.has_value());
    return started;
}

int openDesktop(Report& report, const Backend::Options& options, const QStringList& capsules,
    const std::optional<DemoOptions>& demo)
{
    QApplication app(report.argc, report.argv);
    nameApplication();
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/telltale.svg")));
    // Before anything listens: whoever it answers may end the window, and until its loop runs a signal waits.
    std::optional<Signals> signalsToQuit(std::in_place);
    auto backend = Backend::start(options);
    if (!backend)
        return report.fail(backend.error());
    if ((*backend)->server() != nullptr)
        report.say("listening; join string: " + (*backend)->server()->joinString().toStdString());
    else
        writeLog(LogLevel::Warning, (*backend)->captureProblem().sentence());
    int code = 0;
    {
        Desktop desktop(**backend);
        QObject::connect(&*signalsToQuit, &Signals::terminationRequested, &desktop.window(), &QWidget::close);
        desktop.window().show();
        desktop.window().openCapsules(capsules);
        if (demo) {
            if (auto started = desktop.startDemo(*demo); !started)
                return report.fail(started.error());
        }
        code = QApplication::exec();
        signalsToQuit.reset(); // a second one need not wait for what is still written
    }
    (*backend)->stopRecording();
    return code;
}

}
