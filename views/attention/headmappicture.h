// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <QString>

#include <telltale/analysis/headmaps.h>
#include <telltale/common/valuescale.h>
#include <telltale/common/viewstate.h>

namespace telltale::views {

/// The attention of one head at a step.
struct HeadMapTile {
    ModuleKey key;
    QString title; ///< "L7 h4"
    Step step { 0 }; ///< that it was recorded at
    bool isAtCursor = true; ///< the last of its head up to the cursor, or the first after it
    std::shared_ptr<const analysis::HeadMaps> maps;
    std::size_t place = 0; ///< of the head among those of the document
    int line = 0; ///< of its head, where the tiles are of several steps, and its place there
    int inLine = 0;

    float cell(int row, int column) const { return maps->cell(place, row, column); }
};

/// Attention maps of some heads of one rank, each as it was recorded last before a step; of a few chosen heads also as
/// they were recorded at others in sight, a head after another and by step. Immutable once built. Thread: any (a
/// value).
struct HeadMapPicture {
    static constexpr std::size_t kMost = 24; ///< heads that are drawn
    static constexpr std::size_t kMostSteps = 8; ///< of a head
    static constexpr std::size_t kMostTiles = 64;

    Step atStep { 0 };
    Rank rank;
    std::vector<HeadMapTile> tiles;
    std::size_t omitted = 0; ///< heads that are not drawn
    int missing = 0; ///< selected heads without a map
    int lines = 1; ///< heads, where the tiles are of several steps
    int stepsOfHead = 1; ///< most tiles of a head
    bool sharesSteps = false; ///< those of all heads in one column are of one step
    std::size_t thinned = 0; ///< steps in sight that a chosen head has maps of, where not all are drawn

    bool hasSteps() const { return stepsOfHead > 1; } ///< tiles are of several steps
    bool areChosen = false; ///< they are the selected heads
    bool hasAny = false; ///< the run has maps of this rank
    QString trouble; ///< why some cannot be shown

    /// One scale for all, so that they compare: logarithmic, down to a thousandth of the largest share.
    ValueScale scale() const;
};

/// Maps of the selected heads, spread over the steps of `range`, or, where none of them has one, of all heads that
/// have, at `step`. Thread: query.
Expected<HeadMapPicture> readHeadMaps(store::RunReader& reader, Rank rank, Step step, StepRange range,
    const QString& filter, const std::vector<ModuleKey>& selection,
    const std::function<QString(const ModuleKey&)>& titleOf);

}
