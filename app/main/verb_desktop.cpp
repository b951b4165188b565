// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <QStringList>

#include <telltale/store/archive.h>

#include "desktop.h"
#include "report.h"

namespace telltale::app {
namespace {

int runDesktop(const Args& args, Report& report)
{
    Backend::Options options;
    options.dataDir = args.value("--data-dir").value_or(store::defaultDataDir());
    options.listen = args.value("--listen").value_or("");
    QStringList capsules;
    for (const std::string& word : args.positionals()) {
        const auto run = store::findRun(options.dataDir, word);
        if (!run)
            return report.fail(run.error());
        capsules << QString::fromStdString(run->text());
    }
    return openDesktop(report, options, capsules, std::nullopt);
}

}

Verb desktopVerb()
{
    return { "", "", "The desktop, with the capture server inside. Opens the runs given.", { "CAPSULE...", 0, 1000 },
        {
            { "--listen", "ADDR:PORT", "where to listen (default 127.0.0.1:47800; port 0 picks a free one)" },
            { "--data-dir", "DIR", "where runs are kept (default $TELLTALE_DATA_DIR, else the XDG data home)" },
        },
        runDesktop };
}

}
