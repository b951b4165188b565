// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <QElapsedTimer>

#include <telltale/core/connectioninfo.h>
#include <telltale/items/runsmodel.h>
#include <telltale/store/runhandle.h>

#include "pace.h"
#include "pulse.h"

namespace telltale::views {
class ViewState;
}

namespace telltale::shell {

/// Takes the run's pulse once a second, and that of the window. Thread: gui.
class PulseMeter {
public:
    PulseMeter();

    const Pulse& pulse() const { return m_pulse; }
    /// Another run is shown: rates begin anew.
    void begin();
    /// The clock of the window came so much later than it should.
    void late(qint64 ms) { m_longestGapMs = std::max(m_longestGapMs, ms); }
    bool isDue() const { return m_second.elapsed() >= 1000; }
    /// `connections`: of the whole capture.
    void measure(
        const views::ViewState& state, const items::RunsModel& runs, const std::vector<ConnectionInfo>& connections);
    /// A live run has come to a step; whether the pulse did not know of it yet.
    bool reach(Step step);
    void setRunName(const views::ViewState& state, const items::RunsModel& runs);

private:
    void measureLive(const store::LiveRun& live, const views::ViewState& state);

    Pulse m_pulse;
    QElapsedTimer m_second;
    qint64 m_longestGapMs = 0;
    std::int64_t m_reached = -1; ///< the last step that the run's agents speak of
    std::int64_t m_heardNs = 0; ///< when any of them was heard last, 0 = not known
    bool m_hasEnded = false; ///< each of them said goodbye
    Pace m_pace;
    QElapsedTimer m_clock; ///< the pace's
};

}
