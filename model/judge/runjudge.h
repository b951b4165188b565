// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/judge/cardwords.h>
#include <telltale/judge/incidentdesk.h>
#include <telltale/judge/noisescale.h>
#include <telltale/judge/peers.h>
#include <telltale/judge/rankjudge.h>
#include <telltale/judge/replicas.h>
#include <telltale/judge/stepcolumns.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// Applies the rules to a run, whether it is being recorded or was: the same steps give the same incidents. Thread:
/// owned by one; reads through the reader that it is given.
class RunJudge {
public:
    explicit RunJudge(const Rules& rules = {})
        : m_rules(rules)
        , m_peers(rules)
        , m_noise(rules)
    {
    }

    /// Judges everything in the capsule.
    Expected<void> judgeAll(store::RunReader& reader, const series::CancelToken& cancel = {});
    /// Of a source that is being recorded: the step of which a part is still to come.
    using OpenSteps = std::map<SourceId, Step>;
    /// Judges what came of these steps. Of a source with an open step what is before it: the whole step is judged, or
    /// none of it, as when it is judged again.
    Expected<void> advance(
        store::RunReader& reader, StepRange steps, const series::CancelToken& cancel = {}, const OpenSteps& open = {});

    /// In the order in which they were opened. Those that have changed are marked; whoever has told them says so.
    std::deque<IncidentDesk::Case>& cases() { return m_desk.cases(); }
    /// In the order of causes.
    std::vector<Incident> incidents() const;
    std::uint64_t judged() const { return m_judged; } ///< values
    /// From the first step to the last that was judged, of any rank; empty where none was.
    Judged extent() const;

private:
    static constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min() / 4;

    /// Rows that came up while the source was judged, and may be told of steps that are over: a flight recorder's. What
    /// is not finite there is a finding, or close to overflow; the other rules want a history.
    struct Late {
        RankJudge judge; ///< of these rows alone
        /// By kind and tensor: the last of those steps that was judged. They need not come together.
        std::map<std::pair<Kind, std::uint32_t>, Step> rows;
        Asked asked {};
    };
    struct Source {
        RankJudge judge;
        Step frontier; ///< the last step that was judged
        std::optional<Step> first {}; ///< that was
        Asked asked {};
        bool isRunning = true;
        int attempt = 0;
        StepRange steps {}; ///< that it had when the catalog was read
        std::optional<Step> open {};
        bool isCompared = false; ///< with the attempt before it
        std::optional<Late> late {};
    };

    Expected<void> refresh(store::RunReader& reader);
    Expected<void> judgeChunks(
        store::RunReader& reader, StepRange steps, int attempt, const series::CancelToken& cancel);
    Expected<void> judge(store::RunReader& reader, StepRange steps, int attempt, const series::CancelToken& cancel);
    static void noteLate(Source& source, const Watchlist& newer);
    Expected<void> judgeLate(
        store::RunReader& reader, Source& source, StepRange steps, const series::CancelToken& cancel);
    void noteWhatLasts(int attempt);
    Expected<void> readLog(store::RunReader& reader);
    void judgeGivenUp(Step upTo, int attempt);
    Expected<void> judgeReplicas(store::RunReader& reader, StepRange steps, int attempt);
    void judgePeers(store::RunReader& reader, int attempt, Step last);
    /// False where the norm of a tensor stands still and its checksum, as far as there is one, does not.
    static bool checkBits(store::RunReader& reader, const Source& source, Sighting& sighting, Step step);
    Witness inWords(store::RunReader& reader, const Source& source, const Sighting& sighting, Step step) const;
    Expected<void> compareAttempts(store::RunReader& reader, int attempt);
    void describeNew(store::RunReader& reader);
    void take(Witness witness, int attempt);
    IncidentDesk::Now nowOf(int attempt, Step step) const;
    RanksSeen ranksSeen(int attempt) const;
    Step everyoneIsAt() const; ///< at least

    const Rules m_rules;
    std::shared_ptr<const store::Catalog> m_catalog;
    std::map<SourceId, Source> m_sources;
    Peers m_peers;
    NoiseScale m_noise;
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
