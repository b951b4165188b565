// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <telltale/core/drops.h>
#include <telltale/core/ids.h>
#include <telltale/core/samplebatch.h>

namespace telltale::store {

enum class Severity : std::uint8_t { Notice = 0, Warning = 1, Critical = 2 };

/// One line of a run's log: something that happened, or steps that were produced and are not stored. Thread: any (a
/// value).
struct LogRecord {
    std::string kind; ///< "drop" for what was not stored
    SourceId source;
    Rank rank { -1 }; ///< -1 = of no rank
    StepRange steps; ///< of what lasts; empty where a drop does not know its steps
    std::int64_t wallNs = 0; ///< 0 = not known
    std::int64_t changedNs = 0; ///< of the last record that was folded into it; 0 = none
    std::string text; ///< of a drop: why
    std::string json;
    bool isDrop = false;
    std::uint32_t dropClass = 0; ///< of a drop: see dropclass
    std::uint64_t items = 0; ///< that were dropped
    std::int64_t id = 0; ///< that of a drop changes: 0
    /// The id of the first record that this one changes, and could not be folded into.
    std::int64_t ref = 0;
    /// Later records were folded into it; it may have been read without them.
    bool isChanged = false;
    std::string rule;
    std::string phase;
    std::string cause;
    std::int64_t rev = 0; ///< 0 = none
    std::string author;
    std::string graveness; ///< of an incident; see severity()

    /// Whether `later` says that it changes this one. It repeats of what kind, rank and step this is, so that filters
    /// find both.
    bool isChangedBy(const LogRecord& later) const;
    /// Takes over what a change says.
    void fold(const LogRecord& later);
    Severity severity() const;
    /// Where it stands in a log: what was judged grows with the run, and stands at its end.
    std::int64_t placeNs() const { return kind == "judged" && changedNs > wallNs ? changedNs : wallNs; }
    Step placeStep() const { return kind == "judged" ? steps.last : steps.first; }
    /// It is read again, with all that it has become, when there is more of the same loss.
    bool grows() const { return isDrop && dropClass == dropclass::kEvents; }
};

/// A place in the log: what comes after it is new to who read up to here. From the beginning when it is made.
struct LogCursor {
    std::int64_t event = 0;
    std::int64_t drop = 0;
    bool operator==(const LogCursor&) const = default;
};

/// Which records are wanted; what is left as it is lets all of them through.
struct LogFilter {
    std::string kind;
    std::optional<Rank> rank;
    std::optional<StepRange> steps;
};

/// What was added to the log behind a cursor, in the order in which it was stored: first events, then drops.
struct LogPage {
    std::vector<LogRecord> records;
    LogCursor next;
    bool isLast = true; ///< false: there is more behind `next` already
};

}
