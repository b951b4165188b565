// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/logrecord.h>

namespace telltale::store {

/// The word of its records in a run's log; they are of rank -1, which no agent can be.
inline constexpr std::string_view kNoteRecord = "note";

/// What a person wrote at a step of a run, or at a range of them. Where it begins is never changed: what changes a
/// record repeats its first step. Thread: any (a value).
struct StepNote {
    static constexpr std::size_t kMostBytes = 2000;

    std::int64_t id = 0; ///< of its first record; 0 = not written yet
    StepRange steps;
    std::string text;
    std::string author;
    std::int64_t wallNs = 0; ///< when it was first written
    bool isRemoved = false; ///< it can come back

    bool operator==(const StepNote&) const = default;
    /// BadInput for what is not to be written.
    Expected<void> check() const;
    /// Nothing for what is no note, or a change whose note was not found.
    static std::optional<StepNote> of(const LogRecord& record);
    /// The event that writes it, or, where it has an id, what has become of it. For StoreService::append, of rank -1.
    Event event() const;
};

}
