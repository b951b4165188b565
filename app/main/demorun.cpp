// SPDX-License-Identifier: GPL-3.0-or-later
#include "demorun.h"

#include <cstring>

#include <QJsonDocument>
#include <QProcess>
#include <QProcessEnvironment>
#include <QUuid>

#include <telltale/items/guithread.h>

#include "trainingprogram.h"

namespace telltale::app {
namespace {

constexpr int kTerminateMs = 7000; ///< the agent's exit flush takes at most 5 s

}

DemoRun::DemoRun(DemoOptions options, QObject* parent)
    : QObject(parent)
    , m_options(std::move(options))
{
}

DemoRun::~DemoRun()
{
    for (const auto& process : m_processes) {
        process->disconnect(this);
        process->terminate();
    }
    for (const auto& process : m_processes) {
        if (!process->waitForFinished(kTerminateMs)) {
            process->kill();
            process->waitForFinished(1000);
        }
    }
}

Expected<void> DemoRun::start()
{
    items::assertGuiThread();
    const auto found = m_options.isPython ? TrainingProgram::python() : TrainingProgram::native();
    if (!found)
        return tl::unexpected(found.error());
    const QString runId = QStringLiteral("demo-") + QUuid::createUuid().toString(QUuid::Id128).left(12);
    for (int rank = 0; rank < m_options.ranks; ++rank) {
        auto process = std::make_unique<QProcess>();
        QStringList arguments = found->arguments;
        arguments << QStringLiteral("--steps") << QString::number(m_options.steps);
        if (m_options.join.isEmpty())
            arguments << QStringLiteral("--no-agent");
        // A fault belongs to one rank: the one that it names, or the last, so that "which rank" has an answer worth
        // finding.
        bool isNamed = false;
        m_options.fault.section(QLatin1Char(':'), -1).toInt(&isNamed);
        if (!m_options.fault.isEmpty() && (isNamed || rank == m_options.ranks - 1))
            arguments << QStringLiteral("--fault") << m_options.fault;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("TELLTALE_JOIN"), m_options.join);
        environment.insert(QStringLiteral("TELLTALE_RUN_ID"), runId);
        environment.insert(QStringLiteral("RANK"), QString::number(rank));
        environment.insert(QStringLiteral("WORLD_SIZE"), QString::number(m_options.ranks));
        found->prepare(environment);
        process->setProcessEnvironment(environment);
        process->setProcessChannelMode(QProcess::ForwardedErrorChannel);
        QProcess* raw = process.get();
        connect(raw, &QProcess::finished, this, [this, raw, rank](int code) { onFinished(raw, rank, code); });
        process->start(found->program, arguments);
        if (!process->waitForStarted()) {
            return failure(ErrorCode::Io,
                "cannot start " + found->program.toStdString() + ": " + process->errorString().toStdString());
        }
        m_processes.push_back(std::move(process));
        ++m_running;
    }
    return {};
}

void DemoRun::onFinished(QProcess* process, int rank, int exitCode)
{
    const QByteArray output = process->readAllStandardOutput().trimmed();
    const QJsonDocument summary = QJsonDocument::fromJson(output.mid(output.lastIndexOf('\n') + 1));
    if (exitCode == 0 && process->exitStatus() == QProcess::NormalExit && summary.isObject())
        m_summaries.push_back(summary.object());
    else if (m_problem.isEmpty() && process->exitStatus() == QProcess::CrashExit)
        m_problem = QStringLiteral("the demo: rank %1 was killed (SIG%2)")
                        .arg(rank)
                        .arg(QString::fromLatin1(::sigabbrev_np(exitCode)));
    else if (m_problem.isEmpty())
        m_problem = QStringLiteral("the training process of rank %1 ended with exit code %2").arg(rank).arg(exitCode);
    if (--m_running == 0)
        Q_EMIT finished();
}

}
