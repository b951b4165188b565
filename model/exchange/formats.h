// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <span>
#include <string>

#include <telltale/exchange/runwriter.h>
#include <telltale/exchange/tensorboardtags.h>

namespace telltale::exchange {

struct WriterWish {
    std::string path; ///< file or folder, as the format has it
    std::string runId;
    TagStyle tags = TagStyle::Readable;
};

/// A format that runs are written in: a row, and a RunWriter behind it.
struct Format {
    const char* id; ///< "tensorboard"
    const char* about; ///< for --help
    Expected<std::unique_ptr<RunWriter>> (*make)(const WriterWish& wish);
};

std::span<const Format> formats();
const Format* findFormat(std::string_view id); ///< null: there is none
std::string formatIds(); ///< "tensorboard, csv"

}
