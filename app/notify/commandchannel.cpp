// SPDX-License-Identifier: GPL-3.0-or-later
#include "commandchannel.h"

#include <QProcess>

#include <telltale/core/plaintext.h>

namespace telltale::notify {

using alerts::Verdict;

namespace {

constexpr int kMostSaid = 300;

}

CommandChannel::CommandChannel(const alerts::Command& command, const alerts::DeliveryQueue::Limits& limits, Say say)
    : Channel("command " + terminalText(command.name), {}, limits, std::move(say))
    , m_command(command)
{
    m_patience.setParent(this);
    m_patience.setSingleShot(true);
    connect(&m_patience, &QTimer::timeout, this,
        [this] { over("it was ended, as it took more than " + std::to_string(m_command.timeoutS) + " s"); });
}

CommandChannel::~CommandChannel()
{
    CommandChannel::abandon();
}

void CommandChannel::attempt(const alerts::Alert& alert)
{
    m_process = std::make_unique<QProcess>();
    QProcess* process = m_process.get();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const auto& [name, value] : alert.environment())
        environment.insert(QString::fromStdString(name), QString::fromStdString(value));
    process->setProcessEnvironment(environment);
    process->setProcessChannelMode(QProcess::MergedChannels);
    process->setProgram(QString::fromStdString(m_command.argv.front()));
    QStringList words;
    for (std::size_t i = 1; i < m_command.argv.size(); ++i)
        words << QString::fromStdString(m_command.argv[i]);
    process->setArguments(words);
    m_said.clear();
    connect(process, &QProcess::readyRead, this,
        [this, process] { m_said = (m_said + process->readAll()).right(kMostSaid); });
    connect(process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        if (status != QProcess::NormalExit)
            over("it crashed");
        else if (code != 0)
            over("it ended with " + std::to_string(code)
                + (m_said.trimmed().isEmpty() ? "" : ": " + terminalText(m_said.trimmed().toStdString())));
        else
            over({});
    });
    connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            over("it cannot be started (" + process->errorString().toStdString() + ")");
    });
    m_patience.start(std::chrono::seconds(m_command.timeoutS));
    process->start();
    process->write(QByteArray::fromStdString(alert.toJson() + '\n'));
    process->closeWriteChannel();
}

void CommandChannel::over(const std::string& problem)
{
    if (!m_process)
        return;
    abandon();
    // What a program did not do once may have been done in part: it is not started again.
    if (problem.empty())
        finish(Verdict::Delivered, "it ended with 0");
    else
        finish(Verdict::Refused, problem);
}

void CommandChannel::abandon()
{
    m_patience.stop();
    if (!m_process)
        return;
    QProcess* process = m_process.release();
    process->disconnect(this);
    // One that cannot be ended at once must not be waited for here.
    connect(process, &QProcess::finished, process, &QObject::deleteLater);
    if (process->state() == QProcess::NotRunning)
        process->deleteLater();
    else
        process->kill();
}

}
