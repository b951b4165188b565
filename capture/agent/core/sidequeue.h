// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <variant>

#include <telltale/core/boundedqueue.h>
#include <telltale/core/samplebatch.h>

namespace telltale::agent {

/// Events and blobs on their way to the sender. Thread: any pushes, the sender drains.
using SideItem = std::variant<Event, Blob>;
using SideQueue = BoundedQueue<SideItem>;
inline constexpr std::size_t kSideQueueBytes = 4u << 20;

inline constexpr const char* kRingFull = "the ring was full";
inline constexpr const char* kNoSeries = "no series could be added for them";

/// What of a step never got into the ring.
struct RingDrop {
    std::int64_t step = 0;
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    const char* why = kRingFull;
};

}
