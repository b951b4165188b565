// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>

#include <telltale/core/ids.h>
#include <telltale/store/archive.h>

#include "monitoringcost.h"

namespace telltale::shell {

/// The run's heartbeat as the tool bar and the status bar show it, computed once a second. Thread: any (a value).
struct Pulse {
    bool hasRun = false;
    bool live = false;
    store::RunState state = store::RunState::Finished;
    QString runName;
    QString shownName; ///< with its id where another run has that name
    Step step { -1 };
    double stepsPerSecond = 0;
    int ranks = 0;
    int connectedRanks = 0;
    double awaySeconds = -1; ///< since when no rank of a live run is there that has not said goodbye; -1 = not so
    double lagSeconds = 0;
    std::uint64_t dropped = 0;
    double samplesPerSecond = 0;
    std::uint64_t fileBytes = 0;
    std::uint64_t storedSamples = 0;
    MonitoringCost cost;
    std::vector<double> rates; ///< Pace::rates()

    // Of the whole capture, not of this run.
    int agents = 0;
    std::uint64_t spoolBytes = 0;
    int framesPerSecond = 60;
};

}
