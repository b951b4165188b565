// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <ostream>

#include <QCoreApplication>

#include <telltale/store/archive.h>

#include "backend.h"
#include "report.h"
#include "signals.h"

namespace telltale::app {
namespace {

int runServe(const Args& args, Report& report)
{
    QCoreApplication app(report.argc, report.argv);
    Backend::Options options;
    options.dataDir = args.value("--data-dir").value_or(store::defaultDataDir());
    options.listen = args.value("--listen").value_or("");
    Signals signalsToQuit; // before anything listens: whoever it answers may end the server
    auto backend = Backend::start(options);
    if (!backend)
        return report.fail(backend.error());
    if ((*backend)->server() == nullptr)
        return report.fail((*backend)->captureProblem());

    QObject::connect(&signalsToQuit, &Signals::terminationRequested, &app, &QCoreApplication::quit);
    report.out() << (*backend)->server()->joinString().toStdString() << std::endl;
    const int code = QCoreApplication::exec();
    (*backend)->stopRecording();
    return code;
}

}

Verb serveVerb()
{
    return { "serve", "the capture server without a window",
        "Receives and stores training runs without a window. The first line on standard output is the join string.", {},
        {
            { "--listen", "ADDR:PORT", "where to listen (default 127.0.0.1:47800; port 0 picks a free one)" },
            { "--data-dir", "DIR", "where runs are kept (default $TELLTALE_DATA_DIR, else the XDG data home)" },
        },
        runServe };
}

}
