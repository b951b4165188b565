// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/store/runlocator.h>

struct sqlite3;

namespace telltale::store {

/// What a stream's agent has produced and how much of it is stored: a line of `meta`, "account.<stream>", written in
/// the transaction of the batches that it counts. A stream whose beginning was recorded without one has none. Thread:
/// any (a value).
struct StreamAccount {
    std::uint64_t samples = 0, scalars = 0; ///< stored
    Produced produced; ///< as far as its agent said

    std::string text() const;
    static StreamAccount parse(std::string_view text);
};
std::string accountKey(std::int64_t stream);

/// The sums of one rank's attempt, of samples or of scalars.
struct Balance {
    std::uint64_t produced = 0; ///< at least, where it is not exact
    std::uint64_t stored = 0;
    std::uint64_t dropped = 0; ///< recorded as such, with a reason
    std::uint64_t missing = 0; ///< produced, neither stored nor dropped, and the process is gone
    std::uint64_t beyond = 0; ///< stored or dropped, and the process said in the end that it had produced less

    Balance& operator+=(const Balance& other);
};

struct SourceAccount {
    SourceId source;
    Balance samples, scalars;
    bool isExact = true; ///< false: produced and lost are the least that is known
    bool hasSaidBye = false; ///< the process said itself how it ended
};

/// The account of every source that has one. `isLive`: ranks that run still owe nothing.
Expected<std::vector<SourceAccount>> readAccounts(sqlite3* db, bool isLive);
/// The same for a run.
Expected<std::vector<SourceAccount>> readAccounts(const RunLocator& run, bool isLive);

}
