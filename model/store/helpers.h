// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace telltale::store {

/// Threads that help with work of less than a millisecond, which a new thread would come too late for: they start when
/// they are first wanted, and sleep in between. Thread: any; one at a time is helped, another works alone meanwhile.
class Helpers {
public:
    static constexpr std::size_t kMost = 7;

    Helpers() = default;
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;
    ~Helpers();

    /// Calls `work` here and, at the same time, on `most` helpers or fewer; returns when every call has. What a helper
    /// throws is lost.
    void run(std::size_t most, const std::function<void()>& work);

private:
    class Shift;
    void help();

    std::mutex m_mutex;
    std::condition_variable m_came; ///< work, or the end
    std::condition_variable m_left; ///< the last helper at work
    const std::function<void()>* m_work = nullptr;
    std::size_t m_wanted = 0; ///< helpers that may still begin
    std::size_t m_working = 0;
    bool m_isEnding = false;
    std::vector<std::thread> m_threads;
};

}
