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

/// A whole step that the ring had no room for.
struct RingDrop {
    std::int64_t step = 0;
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
};
inline constexpr const char* kRingFull = "the ring was full";

}
