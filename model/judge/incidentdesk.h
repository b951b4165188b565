// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
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
    double rateBefore = 0; ///< of what raised the learning rate: what that was before; else 0
};

/// Makes one incident of one cause: what opens one, what comes before it after all, what follows from it. Thread: any
/// (a value).
class IncidentDesk {
public:
    static constexpr std::int64_t kQuietSteps = 50; ///< without anything new: it is over
    /// As long as the learning rate stays raised, the windows that numbers are compared with reach back over so many
    /// steps: what is found in them may be the raised rate's, also when the incident was over.
    static constexpr std::int64_t kRaisedSteps = 128;

    /// An incident that is kept here, and the moment where it begins.
    struct Case {
        Incident incident;
        Moment begins;
        int attempt = 0;
        bool isChanged = true; ///< since it was last told
        bool isNew = true; ///< where it begins has changed: it needs its words
        double rateBefore = 0; ///< the learning rate that it raised, as long as that stays so
        std::string into {}; ///< the key of the one that it followed from, as became known late: that has all of it
    };
    /// What is true of an attempt at a step.
    struct Now {
        int attempt = 0;
        Step everyone {}; ///< of all ranks everything up to here has been taken
        std::optional<Step> bad {}; ///< the last at which something is not finite, of any rank
        double learningRate = 0; ///< the highest; 0 = not known
    };

    /// In about the order in which things happen; a rank that is late may be earlier.
    void take(Witness witness);
    /// More of an attempt has been taken; the attempts before have ended.
    void passed(const Now& now);

    /// These blocks of these ranks are still not finite at `step`.
    void lasts(Step step, const std::set<std::pair<std::string, Rank>>& blocks);

    std::deque<Case>& cases() { return m_cases; }
    const std::deque<Case>& cases() const { return m_cases; }
    /// What was noted of a block, or of the optimizer, within `steps` before `step`.
    std::vector<const Witness*> noted(const std::string& block, Step step, std::int64_t steps) const;

private:
    Case* openCase(const Witness& witness);
    void note(Witness witness);
    void join(Case& open, Witness witness);
    void gather(Case& cause, bool isLate);
    static void fold(Case& kept, Case& other);
    static void reach(Incident& incident, const Reach& more);

    std::deque<Case> m_cases; ///< in the order in which they were opened
    std::deque<Witness> m_noted; ///< that opened nothing, or says why; the newest
};

}
