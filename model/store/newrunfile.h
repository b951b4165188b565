// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/archive.h>

namespace telltale::store {

/// A run that is made of another one: a file under another name until it is whole. Thread: any, one at a time; blocks.
class NewRunFile {
public:
    /// BadInput where something of that name is there already.
    static Expected<NewRunFile> begin(const std::string& path);
    NewRunFile(NewRunFile&& other) noexcept;
    NewRunFile& operator=(NewRunFile&&) = delete;
    ~NewRunFile(); ///< leaves nothing behind of what was not finished

    const std::string& draft() const { return m_draft; }
    /// Seals what is in the draft's landing strip. The draft says then that it ended as `state`, and when.
    Expected<void> seal(RunState state, std::int64_t modifiedNs) const;
    /// Writes a record of rank -1 into the log, and gives the file its name.
    Expected<void> finish(Event event, RunState state, std::int64_t modifiedNs);

private:
    explicit NewRunFile(std::string path);
    Expected<void> record(const Event* event, RunState state, std::int64_t modifiedNs) const;

    std::string m_path;
    std::string m_draft;
};

/// How a run that nobody records any more ended.
RunState endedState(RunState state);

}
