// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

#include <telltale/core/expected.h>

namespace telltale::archive {

/// Which moment of what a person names is meant: of a day its first or its last.
enum class Edge : std::uint8_t { First, Last };

/// "2026-11-24", "2026-11-24T10:30[:05]" (in this place's time, with a Z in UTC), "today", "yesterday", or an age as
/// parseAge() takes it, counted back from `nowNs`. Nanoseconds of Unix time. Thread: any.
Expected<std::int64_t> parseMoment(std::string_view text, Edge edge, std::int64_t nowNs);
/// "90d", "12h", "2w", "1y", in nanoseconds.
Expected<std::int64_t> parseAge(std::string_view text);

}
