// SPDX-License-Identifier: GPL-3.0-or-later
#include "trainingprogram.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>

namespace telltale::app {
namespace {

constexpr int kLookMs = 20'000; ///< a cold disk takes its time over site-packages
constexpr const char* kPackageFolder = "capture/agent/python";

/// The checkout that this program was built in, empty when it was installed.
QString checkoutFolder()
{
    QDir folder(QCoreApplication::applicationDirPath());
    do {
        if (QFileInfo::exists(folder.filePath(QLatin1String(kPackageFolder) + QStringLiteral("/telltale/__init__.py"))))
            return folder.absolutePath();
    } while (folder.cdUp());
    return {};
}

/// Whether the Python of `candidate` finds torch and telltale; looked up, not imported, which would take seconds.
bool canTrain(const TrainingProgram& candidate)
{
    QProcess look;
    auto environment = QProcessEnvironment::systemEnvironment();
    candidate.prepare(environment);
    look.setProcessEnvironment(environment);
    look.start(candidate.program,
        { QStringLiteral("-c"),
            QStringLiteral("import sys; from importlib.util import find_spec; "
                           "sys.exit(not (find_spec('torch') and find_spec('telltale')))") });
    return look.waitForFinished(kLookMs) && look.exitStatus() == QProcess::NormalExit && look.exitCode() == 0;
}

}

Expected<TrainingProgram> TrainingProgram::native()
{
    const QString name = QStringLiteral("telltale-demo-trainer");
    const QString beside = QCoreApplication::applicationDirPath() + QLatin1Char('/') + name;
    TrainingProgram found;
    found.program = QFileInfo(beside).isExecutable() ? beside : QStandardPaths::findExecutable(name);
    if (found.program.isEmpty()) {
        return failure(ErrorCode::NotFound, "telltale-demo-trainer is neither beside telltale nor on the PATH",
            "build it (it needs LibTorch: libtorch-dev) or put it there");
    }
    return found;
}

Expected<TrainingProgram> TrainingProgram::python()
{
    const QString checkout = checkoutFolder();
    TrainingProgram found;
    found.arguments = QStringList { QStringLiteral("-m"), QStringLiteral("telltale"), QStringLiteral("train-demo") };
    if (!checkout.isEmpty())
        found.pythonPath = checkout + QLatin1Char('/') + QLatin1String(kPackageFolder);
    const QString named = qEnvironmentVariable("TELLTALE_PYTHON");
    QStringList candidates { named };
    if (named.isEmpty()) {
        candidates = QStringList { checkout + QStringLiteral("/.venv/bin/python3"),
            QStandardPaths::findExecutable(QStringLiteral("python3")) };
    }
    for (const QString& candidate : candidates) {
        found.program = candidate;
        if (!candidate.isEmpty() && QFileInfo(candidate).isExecutable() && canTrain(found))
            return found;
    }
    return failure(ErrorCode::NotFound,
        named.isEmpty() ? "no Python with PyTorch and the telltale package was found"
                        : "TELLTALE_PYTHON " + named.toStdString() + " has no PyTorch or no telltale package",
        "run ./dev run --python in a checkout, which makes one in .venv, or set TELLTALE_PYTHON to a python3 that has "
        "both");
}

void TrainingProgram::prepare(QProcessEnvironment& environment) const
{
    if (pythonPath.isEmpty())
        return;
    const QString before = environment.value(QStringLiteral("PYTHONPATH"));
    environment.insert(
        QStringLiteral("PYTHONPATH"), before.isEmpty() ? pythonPath : pythonPath + QDir::listSeparator() + before);
}

}
