// SPDX-License-Identifier: GPL-3.0-or-later
#include "guiverbs.h"

#include <iostream>

#include <QCoreApplication>

#include <telltale/store/archive.h>

#include "args.h"
#include "backend.h"
#include "signals.h"

namespace telltale::app {
namespace {

const Usage kUsage { "telltale serve [--listen ADDR:PORT] [--data-dir DIR]",
    "Receives and stores training runs without a window. The first line on standard output is the join string.",
    {
        { "--listen", "ADDR:PORT", "where to listen (default 127.0.0.1:47800; port 0 picks a free one)" },
        { "--data-dir", "DIR", "where runs are kept (default $TELLTALE_DATA_DIR, else the XDG data home)" },
    } };

}

int runServe(int argc, char** argv, std::span<const std::string> words)
{
    const auto args = Args::parse(kUsage, words);
    if (!args)
        return usageError(args.error());
    if (args->wantsHelp())
        return printHelp(kUsage);

    QCoreApplication app(argc, argv);
    Backend::Options options;
    options.dataDir = args->value("--data-dir").value_or(store::defaultDataDir());
    options.listen = args->value("--listen").value_or("");
    auto backend = Backend::start(options);
    if (!backend)
        return workError(backend.error());
    if ((*backend)->server() == nullptr)
        return workError((*backend)->captureProblem());

    // Before the first line: whoever has read it may end the server.
    Signals signalsToQuit;
    QObject::connect(&signalsToQuit, &Signals::terminationRequested, &app, &QCoreApplication::quit);
    std::cout << (*backend)->server()->joinString().toStdString() << std::endl;
    const int code = QCoreApplication::exec();
    (*backend)->stopRecording();
    return code;
}

}
