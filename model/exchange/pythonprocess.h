// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <telltale/core/expected.h>

namespace telltale::exchange {

/// The Python ($TELLTALE_PYTHON, else python3) that has the packages telltale and pyarrow; `what` begins the sentence
/// that says they are missing: "parquet files are written". Thread: any; blocks.
Expected<std::string> pythonWithArrow(const std::string& what);

/// `python3 -m telltale`, but that the folder one stands in, which may be a stranger's, is none that modules come from.
std::vector<std::string> packageCall(const std::string& python);

/// The exit code of a program that is looked for on the path; nothing, with errno, where it cannot be started.
std::optional<int> exitCodeOf(std::vector<std::string> words);

/// A program whose output is read while it runs; it ends with this. Thread: one.
class ProgramOutput {
public:
    /// Asked again and again while nothing comes; an error ends the reading.
    using GoOn = std::function<Expected<void>()>;

    static Expected<ProgramOutput> start(std::vector<std::string> words, GoOn goOn);
    ProgramOutput(ProgramOutput&& other) noexcept;
    ProgramOutput& operator=(ProgramOutput&&) = delete;
    ~ProgramOutput();

    /// Without its end; nothing where the output is over.
    Expected<std::optional<std::string>> line();
    /// Exactly so many bytes, valid until the next call; nothing where there are fewer.
    Expected<std::optional<std::string_view>> bytes(std::size_t count);
    /// How it ended, once its output is over: "exit code 1", "signal 11".
    std::string end();

private:
    ProgramOutput(pid_t child, int fd, GoOn goOn)
        : m_goOn(std::move(goOn))
        , m_child(child)
        , m_fd(fd)
    {
    }
    /// Reads on; false: there is no more.
    Expected<bool> fill();

    GoOn m_goOn;
    pid_t m_child;
    int m_fd;
    std::string m_read;
    std::size_t m_at = 0;
};

}
