// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <telltale/core/plaintext.h>

namespace telltale::agent {

/// What an agent counts. Thread: any reads; each counter has one writing thread, or is only ever added to.
/// Invariant: produced = acked + dropped + in flight; so `produced` is raised before anything else can happen to a
/// sample, and is read last.
struct Counters {
    using Count = std::atomic<std::uint64_t>;

    Count produced { 0 }, acked { 0 }, dropped { 0 };
    Count scalarsProduced { 0 }, scalarsAcked { 0 }, scalarsDropped { 0 };
    Count batchesSent { 0 }, batchesAcked { 0 }, bytesSent { 0 }, reconnects { 0 };
    Count ringBytes { 0 }, spoolBytes { 0 };
    Count internalErrors { 0 };
    Count monitorNs { 0 }, stepNs { 0 }, steps { 0 }; ///< what monitoring takes of the training's time
    Count collectedEvery { 0 }, budgetPpm { 0 }; ///< how few steps are collected to stay within a budget
    std::array<Count, 5> dropsByClass {};
    std::atomic<bool> connected { false };
    std::atomic<bool> refused { false }; ///< the server there has another token: it will never take anything
};

/// What an error is about; numbers of tt_error, which programs decide by. The sentence beside it is for people.
enum class Trouble : std::uint32_t { None, BadInput, Connection, Rejected, Spool, Lost, Internal, Notice };

/// The last error. Thread: any.
class LastError {
public:
    void set(Trouble trouble, const std::string& sentence)
    {
        // Part of it may be a reason that a server gave, and it ends on a terminal.
        std::string shown = terminalText(sentence);
        std::lock_guard lock(m_mutex);
        m_sentence = std::move(shown);
        m_trouble = trouble;
    }
    std::pair<Trouble, std::string> get() const
    {
        std::lock_guard lock(m_mutex);
        return { m_trouble, m_sentence };
    }

private:
    mutable std::mutex m_mutex;
    std::string m_sentence;
    Trouble m_trouble = Trouble::None;
};

}
