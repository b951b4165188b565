// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>

#include "args.h"

namespace telltale::app {

enum class LogLevel { Debug = 1, Info, Warning, Error };

/// What the program says along the way, of the chosen level and above: "telltale: SENTENCE" on standard error and, with
/// its time and level, in the file. A sentence that repeats is written once a minute, with how often it came. Whatever
/// somebody else may have written passes terminalText(). Thread: main makes and ends it, any thread writes.
class Log {
public:
    static constexpr std::size_t kMaxFileBytes = 8 << 20; ///< then it is FILE.1, in place of the one before

    /// --log-level and --log-file, which every verb has.
    static std::vector<Flag> flags();
    /// From now on writeLog() comes here; one at a time. The file is for its owner alone, and is continued.
    static Expected<std::unique_ptr<Log>> open(const Args& args);
    /// Tells what was held back.
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    struct State;

private:
    explicit Log(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

/// Into the open log; to standard error when there is none.
void writeLog(LogLevel level, std::string_view sentence);
/// An error that standard error has already, into the log's file.
void noteInLogFile(std::string_view sentence);

}
