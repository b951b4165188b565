// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <QImage>
#include <QString>

#include <telltale/analysis/rundocument.h>
#include <telltale/plot/curvequery.h>

#include "consolelines.h"

namespace telltale::views {

/// Something that the user's program logged under a name at a step. Thread: any (a value).
struct LoggedEntry {
    enum class Sort { Text, Image };
    Sort sort = Sort::Text;
    QString name;
    Step step;
    std::int64_t id = 0;
};
/// The bytes of one, as they are shown.
struct LoggedContent {
    QString text; ///< of a text, or why an image is none
    QImage image;
};

/// What the Run view asks for, and what of it is known already. Thread: any (a value).
struct RunRequest {
    CurveRequest curves; ///< of what the system uses
    Rank rank;
    bool isDocumentWanted = true;
    std::int64_t afterText = 0;
    std::int64_t afterImage = 0;
    std::int64_t afterConsole = 0;
    Rank consoleRank { -1 }; ///< whose console is known so far; -1 = nobody's
    std::vector<std::int64_t> contents; ///< of entries
};

struct RunPicture {
    std::optional<analysis::RunDocument> document;
    CurvePicture system;
    std::vector<LoggedEntry> entries; ///< that came since, of the rank
    std::int64_t lastText = 0;
    std::int64_t lastImage = 0;
    ConsoleLines console; ///< that came since
    std::int64_t lastConsole = 0;
    Rank consoleRank { -1 }; ///< whose console it is: the wanted rank's, else that of the lowest that has one
    std::map<std::int64_t, LoggedContent> contents;
};

/// Thread: query. Cost: what came since, at most 32 MiB of console.
Expected<RunPicture> readRun(
    store::RunReader& reader, const RunRequest& request, const series::CancelToken& cancel = {});

/// "resident memory, GiB" of "system/rss_bytes". Thread: any.
QString systemLabel(const QString& name);

}
