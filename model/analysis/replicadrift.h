// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <telltale/core/ids.h>
#include <telltale/core/kinds.h>
#include <telltale/series/query.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// Whether ranks that hold the same part of a model have the same of a kind, bit by bit: what each makes of a batch of
/// its own differs by right.
bool isReplicated(Kind kind);
/// Whether a kind is made of such alone. It is the same as well, but no rule judges it: where it differs, what it is
/// made of does, too, and is found there.
bool isMadeOfReplicated(Kind kind);

/// Whether replicas of a tensor are the same, bit by bit.
enum class Sameness : std::uint8_t {
    Unknown, ///< fewer than two have a checksum there
    Same,
    Different,
};

/// One step at which the checksums of replicas were compared.
struct SamenessAt {
    Step step;
    Sameness is = Sameness::Unknown;
    std::vector<std::size_t> without; ///< which of them (by place) have no checksum there
};

/// What the checksums of one tensor say over a range of steps.
struct ReplicaDrift {
    std::vector<SamenessAt> steps; ///< ascending
    /// The first step known to differ while the compared one before it (if there is one) was the same.
    std::optional<Step> first;
    bool isEveryStep = false; ///< every step of the range was compared: nothing differs before `first`
};

/// One checksum a replica; 0 and no state: it has none there.
Sameness samenessOf(std::span<const series::CellValue> checksums);
/// Which of them (by place) are not what most are; all of them where none are most.
std::vector<std::size_t> minorityOf(std::span<const series::CellValue> checksums);

/// Compares the replicas' checksums: at every step at which any has one while those are few, else at `most` steps
/// spread over the range and then, between the last step that was the same and the first that was not, to the step.
/// Cost: a few thousand values, or `most` columns. Thread: query.
Expected<ReplicaDrift> readDrift(store::RunReader& reader, const std::vector<series::RowAttempts>& replicas,
    StepRange range, int most, const series::CancelToken& cancel = {});

}
