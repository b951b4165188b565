// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/threadhome.h>

namespace telltale::demo {

/// A text as character ids, and random windows of it. Its generator is its own: drawing a batch leaves every other
/// random state alone. Thread: owned by one.
class Corpus {
public:
    static Expected<Corpus> fromFile(const std::string& path, std::uint64_t seed, int window);
    static Expected<Corpus> fromText(std::string_view text, std::uint64_t seed, int window);

    int vocabulary() const { return m_vocabulary; }
    std::size_t size() const { return m_ids.size(); }
    /// `count` windows of `window` + 1 ids, one after the other: inputs and, shifted by one, targets.
    std::vector<std::int64_t> draw(int count);

private:
    std::vector<std::int64_t> m_ids;
    int m_vocabulary = 0;
    std::size_t m_window = 0;
    std::mt19937_64 m_random;
    ThreadHome m_home;
};

}
