// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/livejudge.h>

#include <algorithm>
#include <utility>

namespace telltale::judge {
namespace {

/// How much of a run that was recorded before is read again, so that its series have a past.
constexpr std::int64_t kPastSteps = 2000;
constexpr auto kToldAgain = std::chrono::seconds(2);

std::int64_t nowNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}

struct LiveJudge::Run {
    store::RunRef ref;
    std::unique_ptr<store::RunReader> reader;
    RunJudge judge;
    IncidentBook book; ///< what the log has of it, by any server
    bool isBegun = false;
    StepRange unjudged; ///< that came, and could not be read yet
    struct Told {
        Clock::time_point when;
        std::string where; ///< the place where it began, as it was told
        bool isOver = false;
    };
    std::map<std::string, Told> told; ///< by the incident's key
};

LiveJudge::LiveJudge(store::StoreService& store, const Rules& rules)
    : m_store(store)
    , m_rules(rules)
    , m_subscription(store.subscribe(*this))
{
}

LiveJudge::~LiveJudge() = default;

void LiveJudge::onRuns(const std::vector<store::RunRef>& live)
{
    std::erase_if(m_runs, [&live](const auto& entry) {
        return std::none_of(
            live.begin(), live.end(), [&](const store::RunRef& run) { return run == entry.second->ref; });
    });
}

void LiveJudge::onDurable(const store::Durable& durable)
{
    auto& run = m_runs[durable.run->locator.text()];
    if (!run || run->ref != durable.run)
        run = std::make_unique<Run>(Run { durable.run, nullptr, RunJudge(m_rules), {}, false, {}, {} });
    if (!durable.steps.isEmpty() && run->unjudged.isEmpty())
        run->unjudged = durable.steps;
    else if (!durable.steps.isEmpty())
        run->unjudged
            = { std::min(run->unjudged.first, durable.steps.first), std::max(run->unjudged.last, durable.steps.last) };
    // A run that cannot be read now is asked again with its next commit: what was missed is read then.
    (void)follow(*run, durable);
}

Expected<void> LiveJudge::follow(Run& run, const store::Durable& durable)
{
    if (!run.reader) {
        auto reader = store::openReader(*run.ref);
        if (!reader)
            return tl::unexpected<Error>(std::move(reader.error()));
        run.reader = std::move(*reader);
    }
    if (!durable.events.isEmpty() || !run.isBegun) {
        if (auto read = run.book.update(*run.reader); !read)
            return read;
    }
    if (!run.isBegun && !run.unjudged.isEmpty()) {
        run.unjudged.first.value -= kPastSteps;
        run.isBegun = true;
    }
    if (!run.unjudged.isEmpty()) {
        if (auto judged = run.judge.advance(*run.reader, run.unjudged); !judged)
            return judged;
        run.unjudged = {};
    }
    write(run, durable.areSourcesChanged);
    return {};
}

void LiveJudge::write(Run& run, bool isLast)
{
    const Clock::time_point now = Clock::now();
    for (IncidentDesk::Case& one : run.judge.cases()) {
        Incident& incident = one.incident;
        if (incident.id == 0) {
            const auto known = std::find_if(run.book.byId().begin(), run.book.byId().end(),
                [&](const auto& entry) { return entry.second.key == incident.key; });
            if (known != run.book.byId().end())
                incident.id = known->first;
        }
        const auto told = run.told.find(incident.key);
        const bool isTold = told != run.told.end();
        if (!one.isChanged || (isTold && incident.id == 0)) // its id is on its way
            continue;
        const bool isNews
            = !isTold || told->second.where != incident.sentence || told->second.isOver != incident.isOver;
        if (!isNews && !isLast && now - told->second.when < kToldAgain)
            continue;
        if (!m_store.append({ 0, run.ref->locator, Rank { -1 }, incidentEvent(incident, nowNs()) }))
            return; // there is no room: with the next commit
        one.isChanged = false;
        run.told[incident.key] = { now, incident.sentence, incident.isOver };
    }
}

}
