// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>
#include <telltale/exchange/eventfiles.h>
#include <telltale/exchange/foreignrun.h>

namespace telltale::exchange {

/// Reads TensorBoard's event files while somebody writes them: what was appended, and files and ranks' folders that
/// come. A record that is not whole yet waits for the rest of it. Thread: owned by one; blocks.
class EventFollower {
public:
    /// The newest step of a file may go on: it is held back until another begins there, the file has been quiet for a
    /// while, or the end.
    struct News {
        ForeignProcess& process; ///< the same object for all news of a file; its rank is true, its attempt is not
        int attempt = 0; ///< of the rank
        std::optional<std::int64_t> held;
    };
    /// Takes what it is given out of the process, but for the step that is held.
    using Take = std::function<Expected<void>(const News&)>;

    explicit EventFollower(std::vector<std::filesystem::path> paths);
    ~EventFollower();
    EventFollower(const EventFollower&) = delete;
    EventFollower& operator=(const EventFollower&) = delete;

    /// Reads what is new. `isLast`: no more comes, and nothing is held back. How many bytes there were.
    Expected<std::uint64_t> advance(ForeignRun& run, const Take& take, bool isLast = false);
    std::size_t files() const { return m_files.size(); }

private:
    struct Followed;
    void findFiles(ForeignRun& run);
    void chooseAttempt(Followed& file);
    Expected<std::uint64_t> readOn(Followed& file, ForeignRun& run, const Take& take, bool isLast);

    std::vector<std::filesystem::path> m_paths;
    std::vector<std::unique_ptr<Followed>> m_files;
    std::map<std::filesystem::path, Followed*> m_byPath;
    ThreadHome m_home;
};

}
