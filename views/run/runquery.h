// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QString>

#include <telltale/analysis/rundocument.h>
#include <telltale/plot/curvequery.h>
#include <telltale/plot/loggedquery.h>

#include "consolelines.h"

namespace telltale::views {

/// What the Run view asks for, and what of it is known already. Thread: any (a value).
struct RunRequest {
    CurveRequest curves; ///< of what the system uses
    Rank rank;
    bool isDocumentWanted = true;
    std::int64_t afterConsole = 0;
    Rank consoleRank { -1 }; ///< whose console is known so far; -1 = nobody's
    LoggedRequest logged;
};

struct RunPicture {
    std::optional<analysis::RunDocument> document;
    CurvePicture system;
    LoggedNews logged;
    ConsoleLines console; ///< that came since
    std::int64_t lastConsole = 0;
    Rank consoleRank { -1 }; ///< whose console it is: the wanted rank's, else that of the lowest that has one
};

/// Thread: query. Cost: what came since, at most 32 MiB of console.
Expected<RunPicture> readRun(
    store::RunReader& reader, const RunRequest& request, const series::CancelToken& cancel = {});

/// "resident memory, GiB" of "system/rss_bytes". Thread: any.
QString systemLabel(const QString& name);

}
