// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace telltale::app {

/// One line on the terminal that says how far a verb is, over and over; nothing where standard error is no terminal.
/// Thread: the verb's.
class ProgressLine {
public:
    /// `isQuiet`: nobody reads it.
    explicit ProgressLine(bool isQuiet);
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Ten times a second at most.
    void show(const std::string& what, std::optional<double> share = {});
    /// Before anything else is said.
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    const bool m_isShown;
    bool m_isThere = false;
    Clock::time_point m_last;
};

}
