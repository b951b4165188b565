// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/judge/incidentdesk.h>
#include <telltale/judge/rankjudge.h>
#include <telltale/judge/replicas.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// Applies the rules to a run, whether it is being recorded or was: the same steps give the same incidents. Thread:
/// owned by one; reads through the reader that it is given.
class RunJudge {
public:
    explicit RunJudge(const Rules& rules = {})
        : m_rules(rules)
    {
    }

    /// Judges everything in the capsule.
    Expected<void> judgeAll(store::RunReader& reader, const series::CancelToken& cancel = {});
    /// Judges what came of these steps.
    Expected<void> advance(store::RunReader& reader, StepRange steps, const series::CancelToken& cancel = {});

    /// In the order in which they were opened. Those that have changed are marked; whoever has told them says so.
    std::deque<IncidentDesk::Case>& cases() { return m_desk.cases(); }
    /// In the order of causes.
    std::vector<Incident> incidents() const;
    std::uint64_t judged() const { return m_judged; } ///< values

private:
    struct Source {
        RankJudge judge;
        Step frontier; ///< the last step that was judged
        std::map<Stat, std::vector<std::size_t>> channels; ///< rows by what is asked of them
        std::vector<std::size_t> limited; ///< rows whose magnitude is judged
        bool isRunning = true;
    };
    struct Columns;

    Expected<void> refresh(store::RunReader& reader);
    Expected<void> judge(store::RunReader& reader, StepRange steps, const series::CancelToken& cancel);
    Expected<std::optional<Columns>> read(
        store::RunReader& reader, const Source& source, StepRange steps, const series::CancelToken& cancel) const;
    void noteWhatLasts();
    Expected<void> readLog(store::RunReader& reader);
    void judgeGivenUp(Step upTo);
    Expected<void> judgeReplicas(store::RunReader& reader, StepRange steps);
    void take(const Source& source, const std::vector<Sighting>& sightings, Step step);
    Witness witnessOf(const Source& source, const Sighting& sighting, Step step) const;
    Witness witnessOf(const Replicas::Divergence& one) const;
    void describe(store::RunReader& reader, IncidentDesk::Case& one);
    std::string sourceTest(store::RunReader& reader, const Incident& incident) const;

    const Rules m_rules;
    std::shared_ptr<const store::Catalog> m_catalog;
    std::map<SourceId, Source> m_sources;
    Replicas m_replicas;
    std::optional<Step> m_replicasNext; ///< nothing before the first that is measured
    IncidentDesk m_desk;
    store::LogCursor m_log;
    std::multimap<Step, Rank> m_givenUp; ///< steps that were tried in vain, and not judged yet
    std::map<Rank, std::deque<Step>> m_lately; ///< those that were
    std::uint64_t m_judged = 0;
    ThreadHome m_home;
};

}
