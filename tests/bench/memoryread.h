// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telltale::bench {

/// A way of reading memory and doing nothing with it. No one way is the fastest on every processor: the limit is the
/// best of them. Thread: any (pure).
struct MemoryRead {
    std::string name;
    std::uint64_t (*read)(const char* bytes, std::size_t size);
};

/// Those that this processor can run.
std::vector<MemoryRead> memoryReads();

}
