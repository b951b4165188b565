// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <telltale/analysis/ranktopology.h>
#include <telltale/analysis/replicadrift.h>
#include <telltale/heatmap/heatpicture.h>

namespace telltale::views {

/// A rank of the small map: what one tensor is there.
struct MapRank {
    Rank rank;
    series::CellValue value;
    analysis::RankOddness odd;
    bool isOverSteps = false; ///< `odd` is what the steps shown say of it, not the modules of one step
};

/// The small map. Immutable once built. Thread: any (a value).
struct RankMapPicture {
    analysis::RankTopology topology;
    std::vector<MapRank> ranks;
    ModuleKey key;
    Stat stat = Stat::Norm;
    Step atStep { 0 };
    ValueScale scale;
    bool areCompared = false; ///< at least kLeastPeers ranks hold the same part of the model
};

/// A tensor whose replicas differ at a step, or are the same.
struct ReplicaOf {
    ModuleKey key;
    analysis::Sameness is = analysis::Sameness::Unknown;
    std::vector<Rank> odd; ///< not what most are; none where no bits are those of most
    double spread = 0; ///< of the statistic, as ReplicaPicture::spread
    bool isNonFinite = false; ///< the statistic, on one of them
};

/// One tensor on ranks that hold the same part of the model. Immutable once built. Thread: any (a value).
struct ReplicaPicture {
    ModuleKey key;
    Kind kind = Kind::Unspecified;
    Stat stat = Stat::Norm;
    std::vector<Rank> ranks;
    StepRange range;
    Step atStep { 0 }; ///< of `tensors`
    std::vector<series::CellState> states; ///< of each column, the strongest
    /// Of each column, (largest - smallest) / largest magnitude; NaN where fewer than two have a value.
    std::vector<float> spread;
    std::vector<std::vector<Rank>> without; ///< of each column, the ranks that have nothing while others have
    std::size_t join = 1; ///< columns between neighboring collected ones that a line is drawn through
    /// Its steps are those of `range`; where some differ, `first` is that of the run. Its places are those in `ranks`.
    analysis::ReplicaDrift drift;
    std::vector<series::CellValue> values; ///< at the step that was asked for or the newest before it, by rank
    Step valuesStep { 0 }; ///< the newest of them
    std::vector<series::CellValue> checksums;
    bool hasChecksums = false; ///< the run has some of this kind
    bool haveOthersChecksums = false; ///< it has some of other kinds
    std::vector<ReplicaOf> tensors; ///< all of the kind at atStep: those that differ first, then by spread
    std::vector<Rank> absent; ///< have nothing of the kind at atStep while others have

    int columns() const { return static_cast<int>(spread.size()); }
    StepRange stepsOf(int column) const; ///< as HeatPicture
    /// Whether ranks that differ in it are a warning: what each makes of a batch of its own differs by right.
    bool isReplicated() const { return analysis::isReplicated(kind) || analysis::isMadeOfReplicated(kind); }
    /// As oneStep.without says, by their numbers.
    std::vector<Rank> withoutAt(const analysis::SamenessAt& oneStep) const;
    analysis::Sameness sameness() const { return analysis::samenessOf(checksums); }
};

/// Whose bits are not those of most; none where no bits are, as of two ranks that differ.
std::vector<std::size_t> unlikeMost(const std::vector<series::CellValue>& checksums);

/// (largest - smallest) / largest magnitude of the finite ones; NaN where fewer than two are.
double spreadOf(const std::vector<series::CellValue>& values);

}
