// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <QImage>
#include <QString>

#include <telltale/store/runreader.h>

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

/// How far a rank's texts and images are known, and which of them are to be read. Thread: any (a value).
struct LoggedRequest {
    Rank rank;
    std::int64_t afterText = 0;
    std::int64_t afterImage = 0;
    std::vector<std::int64_t> contents; ///< of entries
};
struct LoggedNews {
    std::vector<LoggedEntry> entries; ///< that came since, of the rank
    std::int64_t lastText = 0;
    std::int64_t lastImage = 0;
    std::map<std::int64_t, LoggedContent> contents;
};

/// Thread: query. Cost: what came since.
Expected<LoggedNews> readLogged(store::RunReader& reader, const LoggedRequest& request);

}
