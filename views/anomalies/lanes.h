// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <vector>

#include <QHash>
#include <QString>

#include <telltale/core/ids.h>
#include <telltale/judge/incident.h>

namespace telltale::items {
class IncidentsModel;
}
namespace telltale::store {
struct Catalog;
}

namespace telltale::views {

/// The lanes of the timeline. Thread: any (a value).
struct Lane {
    QString name; ///< "layers 4–7"
    QString rules; ///< "Not finite, Drift": of its incidents
    std::array<int, 3> counts {}; ///< by severity
    std::vector<int> rows {}; ///< of the model: incidents that began here, by step
    std::array<std::vector<StepRange>, 3> reach {}; ///< by severity; apart from each other, by step
};

enum class LaneChoice { Block, Rank };

/// What a lane can stand for, in model order, and which lane it is in when there is room for so many.
class LanePlan {
public:
    LanePlan() = default;
    /// `keys`: "layers.7", of a sequence that is the model itself "7", or ranks' numbers. Neighbors that differ in
    /// their number alone share lanes where there are more than `most`, which includes that of the run.
    LanePlan(const std::vector<QString>& keys, int most, LaneChoice choice);

    int laneOf(const QString& key) const; ///< 0, that of the run, for what is unknown
    const std::vector<QString>& names() const { return m_names; } ///< the first is empty: of the run

private:
    std::vector<QString> m_names { QString() };
    QHash<QString, int> m_lanes;
};

/// What is of the whole model has that for a name, in any language.
QString shownBlock(const QString& block);
/// Blocks of the model, in its order. Thread: any; it walks all series.
std::vector<QString> blocksOf(const store::Catalog& catalog);
std::vector<QString> rankKeysOf(const store::Catalog& catalog);

/// Sorts ranges; those that touch become one.
void joinRanges(std::vector<StepRange>& ranges);

/// Fills the lanes of a plan with a run's incidents.
std::vector<Lane> lanesOf(const LanePlan& plan, LaneChoice choice, const items::IncidentsModel& incidents);

}
