// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef NDEBUG
#include <atomic>
#include <cassert>
#include <thread>
#endif

namespace telltale {

/// The one thread that may enter an object: the first that does. A member of each class whose comment names one thread;
/// its entry points call check(). Ends the program where another thread enters, and is nothing in release builds.
/// Thread: any.
class ThreadHome {
public:
#ifdef NDEBUG
    void check() const { }
    void handOver() { }
#else
    using Fault = void (*)();

    ThreadHome() = default;
    /// A new object, or one that was given to whoever moves it, has no thread yet.
    ThreadHome(const ThreadHome& /*other*/)
        : ThreadHome()
    {
    }
    ThreadHome& operator=(const ThreadHome& /*other*/)
    {
        handOver();
        return *this;
    }
    ~ThreadHome() = default;

    void check() const
    {
        std::thread::id owner;
        const auto me = std::this_thread::get_id();
        if (!m_owner.compare_exchange_strong(owner, me) && owner != me)
            onFault.load()();
    }
    /// The next thread that enters is the one.
    void handOver()
    {
        m_owner = std::thread::id();
    }

    /// What becomes of a program with this mistake; tests put their own in its place.
    static inline std::atomic<Fault> onFault { [] { assert(!"entered by another thread than its own"); } };

private:
    mutable std::atomic<std::thread::id> m_owner {};
#endif
};

}
