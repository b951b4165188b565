// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <string>

#include <telltale/core/kinds.h>

namespace telltale {

/// Keeps the monitor's own failures out of the training: run() never throws, tells the first failure of a kind, and
/// does nothing any more for a kind that failed three times. Thread: the monitor's lock.
class Strikes {
public:
    static constexpr int kLimit = 3;

    bool isOut(Kind kind) const { return m_count[index(kind)] >= kLimit; }
    std::uint64_t total() const { return m_total; }

    /// `tell(sentence)` is called on the first and on the last failure of a kind; it must not throw.
    template <typename Work, typename Tell> void run(Kind kind, Work&& work, Tell&& tell) noexcept
    {
        if (isOut(kind))
            return;
        try {
            work();
        } catch (const std::exception& error) {
            strike(kind, error.what(), tell);
        } catch (...) {
            strike(kind, "unknown error", tell);
        }
    }

private:
    static std::size_t index(Kind kind) { return static_cast<std::size_t>(kind); }

    template <typename Tell> void strike(Kind kind, const char* why, Tell& tell)
    {
        ++m_total;
        const int count = ++m_count[index(kind)];
        if (count == 1 || count == kLimit) {
            std::string text = "monitor of " + std::string(kindName(kind)) + " failed: " + why;
            text.resize(text.find('\n') == std::string::npos ? text.size() : text.find('\n'));
            tell(count == kLimit ? text + "; it is off for the rest of the run" : text);
        }
    }

    std::array<int, kKindCount> m_count {};
    std::uint64_t m_total = 0;
};

}
