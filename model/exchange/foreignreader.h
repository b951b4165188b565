// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/exchange/foreignrun.h>

namespace telltale::exchange {

/// A format that runs are read from: a row of foreignReaders(), and one file behind it. Thread: any (without state).
class ForeignReader {
public:
    /// Called now and then with the share that is read; false ends it with ErrorCode::Canceled.
    using Progress = std::function<bool(double)>;

    virtual ~ForeignReader() = default;
    virtual const char* id() const = 0; ///< "tensorboard"
    virtual const char* about() const = 0; ///< for --help
    /// Whether the file or folder is of this format, by what is in it.
    virtual bool claims(const std::filesystem::path& path) const = 0;
    /// Adds what is there to the run. What is damaged is told in the run; an error is for what gives nothing at all.
    virtual Expected<void> read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const = 0;
};

/// Those whose content says most clearly what it is come first.
std::span<const ForeignReader* const> foreignReaders();
/// The one that claims it; null: none.
const ForeignReader* findForeignReader(const std::filesystem::path& path);
/// "msprobe-csv, tensorboard, ..."
std::string foreignFormatIds();

/// What a run is called of which nothing says it: by its folder, "small/out" where that alone says nothing.
std::string foreignName(const std::filesystem::path& path);

/// Reads several folders or files into one run, processes of the same rank as attempts.
Expected<ForeignRun> readForeign(
    std::span<const std::filesystem::path> paths, const ForeignReader::Progress& progress = {});

/// For readers: whether to go on.
inline Expected<void> goOn(const ForeignReader::Progress& progress, double share)
{
    if (progress && !progress(share))
        return failure(ErrorCode::Canceled, "the import was canceled");
    return {};
}

}
