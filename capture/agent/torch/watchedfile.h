// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <telltale/core/expected.h>
#include <telltale/torch/configfile.h>

namespace telltale {

/// The job's config file. A thread looks at it, as long as somebody wants to know of an edit, and writes to it, so that
/// a file system that hangs holds up nobody else. Thread: training, but for what says otherwise.
class WatchedFile {
public:
    /// text: what the file said when the training read it. betweenLooks: how long until the next look, 0 = nobody wants
    /// to know now. Thread of betweenLooks: the file's; it must not wait, and is not called after the destructor.
    WatchedFile(std::string path, std::string text, std::function<std::chrono::milliseconds()> betweenLooks);
    WatchedFile(const WatchedFile&) = delete;
    WatchedFile& operator=(const WatchedFile&) = delete;
    /// Lets a write that is under way end.
    ~WatchedFile();

    /// What the file says since it changed, or what is wrong with it; one atomic load when it did not.
    std::optional<Expected<LoadedConfig>> takeChange();
    /// Has the file say what `wanted` says. known: its text as the training knows it; another one is a newer edit,
    /// which stays. then: called once it is on the disk or will not be, as betweenLooks is, unless a later write came
    /// between.
    void write(const std::string& known, const config::MonitorConfig& wanted, std::function<void()> then);
    /// Waits until the file as it is now has been looked at; false when that took too long. Not for the training loop.
    bool lookNow(std::chrono::milliseconds timeout = std::chrono::seconds(5));

private:
    struct Shared;
    const std::shared_ptr<Shared> m_shared; ///< the thread holds it, too: one that hangs is left behind
    bool m_isRunning = false;
    const int m_process;
};

}
