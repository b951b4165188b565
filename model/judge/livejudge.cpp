// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/livejudge.h>
#include <telltale/store/capsulereader.h>

#include <algorithm>
#include <utility>

namespace telltale::judge {
namespace {

/// How much of a run that was recorded before is read again, so that its series have a past.
constexpr std::int64_t kPastSteps = 2000;
constexpr auto kToldAgain = std::chrono::seconds(2);
constexpr auto kJudgedToldAgain = std::chrono::seconds(5); // a small record each time
constexpr std::size_t kCacheBytes = 8u << 20; // of steps that are read once: between planning and reading
constexpr auto kDefaultReadAgain = std::chrono::milliseconds(500);

std::int64_t nowNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}

struct LiveJudge::Run {
    store::RunRef ref;
    std::unique_ptr<store::RunReader> reader = nullptr;
    RunRules own = {};
    std::string saidProblem = {};
    Rules rules = {};
    std::unique_ptr<RunJudge> judge = nullptr; ///< by these rules
    std::optional<Step> since = {}; ///< from which on they count, where others did before
    std::vector<Incident> left = {}; ///< that went on by the former rules
    IncidentBook book = {}; ///< what the log has of it, by any server
    bool isBegun = false;
    StepRange unjudged = {}; ///< that came, and could not be read yet
    RunJudge::OpenSteps open = {};
    std::optional<Step> judged = {}; ///< the last step
    struct Told {
        Clock::time_point when;
        std::string where; ///< the place where it began, as it was told
        bool isOver = false;
    };
    std::map<std::string, Told> told = {}; ///< by the incident's key
    Judged extent = {}; ///< as it was told
    Clock::time_point extentTold = {};
    bool isExtentDue = false;

    void noteSteps(const StepRange& more)
    {
        if (!more.isEmpty())
            unjudged = unjudged.isEmpty()
                ? more
                : StepRange { std::min(unjudged.first, more.first), std::max(unjudged.last, more.last) };
    }
    /// Found by these rules where others counted, and not by those.
    bool isPast(const Incident& incident) const { return since && incident.lastStep < *since && incident.id == 0; }
    /// Whether the log has all that is known.
    bool isSaid() const
    {
        if (!judge)
            return true;
        const Judged now = judge->extent();
        return left.empty() && (now.steps.isEmpty() || now == extent)
            && std::none_of(judge->cases().begin(), judge->cases().end(), [this](const IncidentDesk::Case& one) {
                   return one.isChanged && (told.contains(one.incident.key) || !isPast(one.incident));
               });
    }
};

LiveJudge::LiveJudge(store::StoreService& store, std::function<void(const std::string&)> say)
    : m_store(store)
    , m_say(say ? std::move(say) : [](const std::string&) {})
    , m_default(store.dataDir())
    , m_defaultRead(Clock::now())
{
    if (!m_default.problem().empty())
        m_say(m_default.problem());
    m_subscription = store.subscribe(*this);
}

LiveJudge::~LiveJudge() = default;

void LiveJudge::finish(std::chrono::milliseconds atMost)
{
    const Clock::time_point until = Clock::now() + atMost;
    const auto left = [until] {
        return std::max(
            std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()));
    };
    if (!m_store.flush(atMost) || !m_subscription->settle(left()))
        m_cancel->store(true);
    m_subscription.reset();
    for (const auto& [locator, run] : m_runs) {
        if (!run->judge)
            continue;
        write(*run, true);
        writeJudged(*run, true);
    }
}

void LiveJudge::onRuns(const std::vector<store::RunRef>& live)
{
    m_live = live;
    // What was found last may wait for the id that an incident gets with its first record.
    std::erase_if(m_runs, [this](const auto& entry) { return !isLive(*entry.second) && entry.second->isSaid(); });
}

bool LiveJudge::isLive(const Run& run) const
{
    return std::any_of(m_live.begin(), m_live.end(), [&](const store::RunRef& one) { return one->id == run.ref->id; });
}

void LiveJudge::onDurable(const store::Durable& durable)
{
    auto& run = m_runs[durable.run->locator.text()];
    if (!run || run->ref->id != durable.run->id) {
        run = std::make_unique<Run>(Run { durable.run });
    } else if (run->ref != durable.run) { // it was closed or goes on
        run->ref = durable.run;
        run->reader.reset();
    }
    readDefault();
    run->noteSteps(durable.steps);
    for (const auto& [source, step] : durable.openSteps) {
        run->open.erase(source);
        if (step)
            run->open.emplace(source, *step);
    }
    // Of a source that went in the middle of a step nothing more comes.
    for (const auto& [source, step] : durable.areSourcesChanged ? run->open : RunJudge::OpenSteps())
        run->noteSteps({ step, step });
    // A run that cannot be read now is asked again with its next commit: what was missed is read then.
    const auto followed = follow(*run, durable);
    if (followed && !isLive(*run) && run->isSaid())
        m_runs.erase(durable.run->locator.text());
}

Expected<void> LiveJudge::follow(Run& run, const store::Durable& durable)
{
    if (!run.reader) {
        store::SharedReads reads;
        reads.blocks = std::make_shared<series::BlockCache>(kCacheBytes);
        auto reader = store::openReader(*run.ref, reads);
        if (!reader)
            return tl::unexpected<Error>(std::move(reader.error()));
        run.reader = std::move(*reader);
    }
    if (!durable.events.isEmpty() || !run.isBegun) {
        if (auto read = run.book.update(*run.reader); !read)
            return read;
        if (auto read = run.own.update(*run.reader); !read)
            return read;
        if (!run.own.problem().empty() && run.own.problem() != run.saidProblem)
            m_say(run.ref->name + ": " + run.own.problem());
        run.saidProblem = run.own.problem();
    }
    takeRules(run);
    if (!run.isBegun && !run.unjudged.isEmpty()) {
        run.unjudged.first.value -= kPastSteps;
        run.isBegun = true;
    }
    if (!run.unjudged.isEmpty()) {
        if (auto judged = run.judge->advance(*run.reader, run.unjudged, m_cancel, run.open); !judged)
            return judged;
        run.judged = std::max(run.judged.value_or(run.unjudged.last), run.unjudged.last);
        run.unjudged = {};
    }
    const bool isLast = durable.areSourcesChanged || !isLive(run);
    write(run, isLast);
    writeJudged(run, isLast);
    return {};
}

void LiveJudge::writeJudged(Run& run, bool isLast)
{
    Judged extent = run.judge->extent();
    if (extent.steps.isEmpty() || extent == run.extent)
        return;
    const Clock::time_point now = Clock::now();
    run.isExtentDue = run.isExtentDue || isLast || now - run.extentTold >= kJudgedToldAgain;
    const bool isWritten = !run.extent.steps.isEmpty();
    const Judged* before = run.book.judged().empty() ? nullptr : &run.book.judged().back();
    if (!run.isExtentDue || (isWritten && before == nullptr)) // its id is on its way
        return;
    const Judged told = extent;
    if (before != nullptr && extent.steps.first.value <= before->steps.last.value + 1) {
        extent.id = before->id;
        extent.steps = { before->steps.first, std::max(before->steps.last, extent.steps.last) };
    }
    if (!m_store.append({ 0, run.ref->locator, Rank { -1 }, judgedEvent(extent, nowNs()) }))
        return; // there is no room: with the next commit
    run.extent = told;
    run.extentTold = now;
    run.isExtentDue = false;
}

void LiveJudge::readDefault()
{
    const Clock::time_point now = Clock::now();
    if (now - m_defaultRead < kDefaultReadAgain)
        return;
    m_defaultRead = now;
    if (m_default.refresh() && !m_default.problem().empty())
        m_say(m_default.problem());
}

void LiveJudge::takeRules(Run& run)
{
    const Rules& rules = run.own.rules() ? *run.own.rules() : m_default.rules();
    if (run.judge && run.rules == rules)
        return;
    if (run.judge) {
        for (const IncidentDesk::Case& one : run.judge->cases()) {
            if (!one.incident.isOver && run.told.contains(one.incident.key))
                run.left.push_back(one.incident);
        }
    }
    if (run.judged) {
        run.since = Step { run.judged->value + 1 };
        run.unjudged = { Step { run.judged->value - kPastSteps }, std::max(*run.judged, run.unjudged.last) };
    } else if (run.own.rules()) {
        run.since = run.own.since();
    }
    run.rules = rules;
    run.judge = std::make_unique<RunJudge>(rules);
}

void LiveJudge::endLeft(Run& run)
{
    std::erase_if(run.left, [&](Incident& incident) {
        const auto& cases = run.judge->cases();
        const bool goesOn = std::any_of(cases.begin(), cases.end(),
            [&](const IncidentDesk::Case& one) { return one.incident.key == incident.key; });
        const auto known = std::find_if(run.book.byId().begin(), run.book.byId().end(),
            [&](const auto& entry) { return entry.second.key == incident.key; });
        if (goesOn || known == run.book.byId().end())
            return goesOn; // without an id: that is on its way
        incident.id = known->first;
        incident.isOver = true;
        return m_store.append({ 0, run.ref->locator, Rank { -1 }, incidentEvent(incident, nowNs()) });
    });
}

bool LiveJudge::fold(const Run& run, IncidentDesk::Case& one)
{
    if (one.incident.id == 0) // nobody was told of it, or its id is on its way
        one.isChanged = run.told.contains(one.incident.key);
    const auto whole = std::find_if(run.book.byId().begin(), run.book.byId().end(),
        [&](const auto& entry) { return entry.second.key == one.into; });
    if (one.incident.id == 0 || whole == run.book.byId().end())
        return false;
    one.incident.into = whole->first;
    return true;
}

void LiveJudge::write(Run& run, bool isLast)
{
    const Clock::time_point now = Clock::now();
    endLeft(run);
    for (IncidentDesk::Case& one : run.judge->cases()) {
        Incident& incident = one.incident;
        if (incident.id == 0) {
            const auto known = std::find_if(run.book.byId().begin(), run.book.byId().end(),
                [&](const auto& entry) { return entry.second.key == incident.key; });
            if (known != run.book.byId().end()) {
                incident.id = known->first;
                // What another server counted is not taken back.
                incident.folded = std::max(incident.folded, known->second.folded);
                incident.lastStep = std::max(incident.lastStep, known->second.lastStep);
            }
        }
        const auto told = run.told.find(incident.key);
        const bool isTold = told != run.told.end();
        if (!one.into.empty() && one.isChanged && !fold(run, one))
            continue;
        if (!one.isChanged || (isTold && incident.id == 0)) // its id is on its way
            continue;
        if (run.isPast(incident) && !isTold)
            continue;
        const bool isNews = !isTold || told->second.where != incident.sentence || told->second.isOver != incident.isOver
            || incident.into != 0;
        if (!isNews && !isLast && now - told->second.when < kToldAgain)
            continue;
        if (!m_store.append({ 0, run.ref->locator, Rank { -1 }, incidentEvent(incident, nowNs()) }))
            return; // there is no room: with the next commit
        one.isChanged = false;
        run.told[incident.key] = { now, incident.sentence, incident.isOver };
    }
}

}
