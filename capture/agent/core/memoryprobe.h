// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <new>

namespace telltale::agent {

/// Whether work on a text of that length can be done to its end. Libraries whose destructors allocate (nlohmann's JSON
/// values, Boost's sockets) end the process where memory runs out halfway, so what they may take is asked for first.
/// Thread: any.
inline bool hasMemoryFor(std::size_t length)
{
    constexpr std::size_t kAtLeast = 1u << 20;
    constexpr std::size_t kForEachByte = 64;
    void* probe = ::operator new(kAtLeast + kForEachByte * length, std::nothrow);
    ::operator delete(probe);
    return probe != nullptr;
}

}
