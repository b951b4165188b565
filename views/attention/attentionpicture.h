// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include <telltale/analysis/attentionheads.h>
#include <telltale/common/valuescale.h>
#include <telltale/common/viewstate.h>
#include <telltale/series/query.h>

namespace telltale::views {

/// What a map of heads shows.
enum class HeadValue { Entropy, EntropyShare, SoftmaxMax, MaxLogit };
inline constexpr std::array kHeadValues { HeadValue::Entropy, HeadValue::EntropyShare, HeadValue::SoftmaxMax,
    HeadValue::MaxLogit };
enum class HeadOrder {
    Number,
    Value, ///< within each layer by what the left map shows, what looks at few keys or differs most first
};

/// What the rows of a map are.
enum class HeadAxes {
    LayerByHead,
    RankByHead, ///< of one layer
};

/// The statistic that a value is read from.
Stat statOf(HeadValue value);
/// "entropy", "entropy / ln n", as people read it.
QString headValueText(HeadValue value);

/// One head of one layer at one step.
struct HeadCell {
    ModuleKey key;
    series::CellValue entropy;
    series::CellValue softmaxMax;
    series::CellValue maxLogit;
    int microSteps = 1; ///< that its values are the mean of
    double before = std::numeric_limits<double>::quiet_NaN(); ///< its entropy at AttentionPicture::beforeStep
    analysis::HeadSign sign = analysis::HeadSign::None;
};

/// An attention module; one called several times in a step is several layers. On another rank it is another row.
struct AttentionLayer {
    QString name;
    QString label; ///< "7" of "layers.7.attn", where that tells the layers apart; its rank where the rows are ranks
    QString number; ///< "7" as well, whatever the rows are
    Rank rank;
    QString definition; ///< in the agent's words
    analysis::AttentionShape shape;
    std::vector<HeadCell> heads; ///< in the order in which they are shown
    series::CellValue
        headZero; ///< entropy of the first sequence's head 0 as msprobe calculates it, where it was asked for

    /// That of equal weights, ln n of n keys; 0 where these are not known.
    double uniformEntropy() const;
};

/// The attention heads of one rank at one step, or of one layer on all ranks. Immutable once built. Thread: any (a
/// value).
struct AttentionPicture {
    static constexpr std::int64_t kBefore = 512; ///< most steps that a fall is measured over
    static constexpr std::int64_t kLeastBefore = 8; ///< fewer say nothing

    Step atStep { 0 }; ///< the newest step of a value, else the one that was asked for
    std::optional<Step> beforeStep; ///< that heads are compared with: up to kBefore earlier, as far as there are any
    Rank rank; ///< selected, where the rows are ranks
    HeadAxes axes = HeadAxes::LayerByHead;
    bool isSpread = false; ///< values are the largest over the ranks less the smallest
    int ranks = 0; ///< that a spread is of
    HeadOrder order = HeadOrder::Number;
    /// Whether that order has the highest first.
    bool isHighestFirst() const
    {
        return isSpread || orderedBy == HeadValue::SoftmaxMax || orderedBy == HeadValue::MaxLogit;
    }
    HeadValue orderedBy = HeadValue::Entropy; ///< where that is HeadOrder::Value: of both maps
    std::vector<AttentionLayer> layers; ///< in model order
    std::set<QString> names; ///< of all layers, those that are not shown as well
    bool areTold = false; ///< their numbers tell them apart
    int columns = 0; ///< heads of the widest layer
    std::int64_t group = 1; ///< query heads that share a key head, where all layers agree
    bool isLive = false;

    bool isEmpty() const { return layers.empty(); }
    /// Null where a layer has fewer heads.
    const HeadCell* cell(int layer, int column) const;
    /// What a cell shows; the share of an entropy whose context is not known is not collected.
    series::CellValue valueOf(int layer, int column, HeadValue value) const;
    /// Entropies from 0 to ln n, shares and maxima from 0 to 1, logits as they are.
    ValueScale scaleOf(HeadValue value) const;
    /// Of each layer where all attend to equally many keys, else 0.
    double uniformEntropy() const;
    /// Of a head; {-1, -1} where it is not shown.
    std::array<int, 2> placeOf(const ModuleKey& key) const;
    /// The heads with the lowest entropy for their context, at most `most`, the lowest first; of a spread those that
    /// differ most.
    std::vector<ModuleKey> lowest(std::size_t most) const;
    std::int64_t stepsBefore() const { return beforeStep ? atStep.value - beforeStep->value : 0; }
    /// "L7 h4", or the name where numbers do not tell the layers apart.
    QString shortText(const ModuleKey& key) const;
    /// Of a layer: "7" where that tells all of them apart.
    QString numberOf(const QString& layer) const;
    /// Signs, labels, order: what follows from what was read. Call once.
    void finish(HeadValue left);
};

}
