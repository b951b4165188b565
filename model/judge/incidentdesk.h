// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <telltale/judge/incident.h>
#include <telltale/judge/rankjudge.h>

namespace telltale::judge {

/// A sighting with its words.
struct Witness {
    Finding finding;
    Moment moment;
    Step seen; ///< the step at which it became known
    std::string block;
    bool opens = true;
    int attempt = 0; ///< of the run: what another one did is no cause
};

/// Makes one incident of one cause: what opens one, what comes before it after all, what follows from it. Thread: any
/// (a value).
class IncidentDesk {
public:
    static constexpr std::int64_t kQuietSteps = 50; ///< without anything new: it is over

    /// An incident that is kept here, and the moment where it begins.
    struct Case {
        Incident incident;
        Moment begins;
        int attempt = 0;
        bool isChanged = true; ///< since it was last told
        bool isNew = true; ///< where it begins has changed: it needs its words
    };

    /// In about the order in which things happen; a rank that is late may be earlier.
    void take(Witness witness);
    /// Everything of the attempt up to `step` has been taken, of the rank that is farthest behind; the attempts before
    /// have ended. `isBad`: something is not finite now.
    void passed(Step step, bool isBad, int attempt = 0);

    /// These blocks of these ranks are still not finite at `step`.
    void lasts(Step step, const std::set<std::pair<std::string, Rank>>& blocks);

    std::deque<Case>& cases() { return m_cases; }
    const std::deque<Case>& cases() const { return m_cases; }
    /// What was noted of a block, or of the optimizer, within `steps` before `step`.
    std::vector<const Witness*> noted(const std::string& block, Step step, std::int64_t steps) const;

private:
    Case* openCase(const Witness& witness);
    static void reach(Incident& incident, const Witness& witness);

    std::deque<Case> m_cases; ///< in the order in which they were opened
    std::deque<Witness> m_noted; ///< that opened nothing, or says why; the newest
};

}
