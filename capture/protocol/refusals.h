// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <telltale/core/samplebatch.h>

namespace telltale::protocol {

/// What a stream sent that breaks a rule (datarules.h): such a layout costs its own samples, such an event or blob
/// itself, and the rest of their payload is taken. Thread: owned by one.
struct Refusals {
    /// What it takes to count the blocks of one: no names, which may be long.
    struct Layout {
        Kind kind = Kind::Unspecified;
        std::vector<Stat> stats;
        std::size_t series = 0;
        std::vector<double> edges;
        std::string reason;
    };
    /// Those beyond are forgotten, and so like layouts that never came.
    static constexpr std::size_t kMostLayouts = 4096;

    std::unordered_map<LayoutId, Layout> layouts; ///< of the whole stream: their blocks follow in later payloads
    std::size_t knownSeries = 0; ///< that the stream has in layouts that were taken
    /// Blocks whose layout is not known are refused. Else the whole payload is: it can be sent again with its layouts.
    bool refusesUnknown = false;

    /// Of one payload.
    struct Left {
        std::string reason; ///< of the first, empty when all of it was taken
        StepRange steps;
        std::uint64_t samples = 0, scalars = 0; ///< as far as they can be counted
        std::uint64_t events = 0, blobs = 0;
    };
    Left left;

    void note(const std::string& reason)
    {
        if (left.reason.empty())
            left.reason = reason;
    }
};

}
