// SPDX-License-Identifier: GPL-3.0-or-later
#include "guiverbs.h"

#include <QStringList>

#include <telltale/store/archive.h>

#include "desktop.h"

namespace telltale::app {
namespace {

const Usage kUsage { "telltale [--listen ADDR:PORT] [--data-dir DIR] [CAPSULE...]",
    "The desktop, with the capture server inside. Opens the runs given.",
    {
        { "--listen", "ADDR:PORT", "where to listen (default 127.0.0.1:47800; port 0 picks a free one)" },
        { "--data-dir", "DIR", "where runs are kept (default $TELLTALE_DATA_DIR, else the XDG data home)" },
    },
    0, 1000 };

}

int runDesktop(int argc, char** argv, std::span<const std::string> words)
{
    const auto args = Args::parse(kUsage, words);
    if (!args)
        return usageError(args.error());
    if (args->wantsHelp())
        return printHelp(kUsage);
    Backend::Options options;
    options.dataDir = args->value("--data-dir").value_or(store::defaultDataDir());
    options.listen = args->value("--listen").value_or("");
    QStringList capsules;
    for (const std::string& word : args->positionals()) {
        const auto path = store::findCapsule(options.dataDir, word);
        if (!path)
            return workError(path.error());
        capsules << QString::fromStdString(*path);
    }
    return openDesktop(argc, argv, options, capsules, std::nullopt);
}

}
