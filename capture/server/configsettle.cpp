// SPDX-License-Identifier: GPL-3.0-or-later
// What follows from all that the desk was told: who is offered what, and how a run stands.
#include <telltale/server/configdesk.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/store/clock.h>

namespace telltale::server {
namespace {

namespace configphase = store::configphase;
using State = RankSteering::State;

constexpr double kAheadSeconds = 0.5; ///< until all ranks have the offer and have judged it
constexpr std::int64_t kAheadSteps = 2; ///< at least
constexpr std::int64_t kFarthestAhead = 1'000'000'000;
/// Ranks that are past every step that is named to them take the revision at whatever step comes next.
constexpr int kMostMoves = 6;
/// One that is past that, too, does not mean to take it.
constexpr int kMostPasses = 12;

}

void ConfigDesk::answer(Run& run, const RankDesk& rank, std::string_view phase, std::string text)
{
    const Revision* target = find(run, rank.view().rev);
    if (target == nullptr || target->record == 0)
        return;
    store::OwnRecord record;
    record.run = run.locator;
    record.rank = rank.rank();
    record.event = { "config", Step { std::max<std::int64_t>(rank.view().step, 0) }, store::wallClockNs(),
        std::move(text), nlohmann::json { { "incarnation", rank.incarnation() } }.dump() };
    record.event.rev = target->rev;
    record.event.phase = phase;
    record.event.ref = static_cast<std::uint64_t>(target->record);
    m_records.push_back(std::move(record));
}

void ConfigDesk::tick(Clock::time_point now)
{
    m_home.check();
    for (auto& [locator, run] : m_runs)
        settle(run, now);
}

void ConfigDesk::settle(Run& run, Clock::time_point now)
{
    if (!run.isLoaded)
        return;
    placeEdit(run, now);
    for (auto& [id, rank] : run.ranks)
        settle(run, rank, now);
}

void ConfigDesk::settle(Run& run, RankDesk& rank, Clock::time_point now)
{
    Revision* target = targetOf(run, rank.rank());
    if (target == nullptr)
        return;
    if (rank.view().rev != target->rev) {
        rank.aim(*target);
        m_isChanged = true;
    }
    if (!rank.isOpen())
        return;
    if (rank.isRunning(*target)) {
        if (rank.view().runsRev != target->rev) // an edit of its file, of which it has no number
            rank.runs(*target);
        rank.applied(rank.inForceStep(), now);
        target->isUnderWay = true;
        answer(run, rank, configphase::kApplied, fmt::format("runs revision {} of the config", target->rev));
        m_isChanged = true;
        return;
    }
    if (!rank.isAllowed() || rank.passes() >= kMostPasses) {
        rank.refused(rank.lastStep() + 1,
            rank.isAllowed()
                ? fmt::format("it was past the step {} times", rank.passes())
                : std::string("its training takes no config from here: TELLTALE_REMOTE_CONFIG is off there, its "
                              "program does not follow one, or its agent is older than this"),
            now);
        answer(run, rank, configphase::kRefused,
            fmt::format("refuses revision {} of the config: {}", target->rev, rank.view().reason));
        m_isChanged = true;
        return;
    }
    if (target->json && rank.isReady(*target, now))
        offer(run, rank, *target, now);
}

void ConfigDesk::offer(Run& run, RankDesk& rank, Revision& target, Clock::time_point now)
{
    std::int64_t step = target.isUnderWay ? 0 : target.applyAtStep;
    if (step != 0 && step <= rank.lastStep() + 1)
        step = target.moves >= kMostMoves ? 0 : putOff(run, target, now);
    rank.offered(target, step, now);
    m_offers.push_back({ rank.connection(), { target.rev, *target.json, target.hash, step } });
    m_isChanged = true;
}

std::int64_t ConfigDesk::putOff(const Run& run, Revision& target, Clock::time_point now)
{
    ++target.moves;
    const std::int64_t step = target.applyAtStep = std::max(nextCommonStep(run, target, now), target.applyAtStep + 1);
    store::OwnRecord record;
    record.run = run.locator;
    record.event = { "config", Step { step }, store::wallClockNs(),
        fmt::format("revision {} of the config is put off to step {}", target.rev, step), "{}" };
    record.event.rev = target.rev;
    record.event.phase = configphase::kOffered;
    record.event.ref = static_cast<std::uint64_t>(target.record);
    record.event.author = target.author;
    m_records.push_back(std::move(record));
    return step;
}

std::int64_t ConfigDesk::nextCommonStep(const Run& run, const Revision& target, Clock::time_point now)
{
    std::int64_t newest = 0;
    double perSecond = 0;
    for (const auto& [id, rank] : run.ranks) {
        if (rank.connection() == 0 || !target.asks(id))
            continue;
        newest = std::max(newest, rank.stepAt(now));
        perSecond = std::max(perSecond, rank.stepsPerSecond());
    }
    const double ahead = std::ceil(perSecond * kAheadSeconds * std::exp2(target.moves));
    return newest
        + std::clamp(static_cast<std::int64_t>(std::min(ahead, static_cast<double>(kFarthestAhead))),
            kAheadSteps << target.moves, kFarthestAhead);
}

std::optional<RunSteering> ConfigDesk::steering(const store::RunLocator& locator, std::uint64_t rev) const
{
    m_home.check();
    const auto found = m_runs.find(locator);
    if (found == m_runs.end() || !found->second.isLoaded)
        return std::nullopt;
    const Run& run = found->second;
    if (rev == 0)
        return describe(run, run.revisions.empty() ? nullptr : &run.revisions.back());
    const auto revision = std::find_if(
        run.revisions.begin(), run.revisions.end(), [rev](const Revision& other) { return other.rev == rev; });
    return revision == run.revisions.end() ? std::nullopt : std::optional(describe(run, &*revision));
}

std::vector<RunSteering> ConfigDesk::steering() const
{
    m_home.check();
    std::vector<RunSteering> all;
    for (const auto& [locator, run] : m_runs) {
        if (run.isLoaded)
            all.push_back(describe(run, run.revisions.empty() ? nullptr : &run.revisions.back()));
    }
    return all;
}

bool ConfigDesk::isWritten(const store::RunLocator& run, std::uint64_t rev) const
{
    return std::none_of(m_writing.begin(), m_writing.end(),
        [&](const auto& entry) { return entry.second.first == run && entry.second.second == rev; });
}

std::optional<store::RunLocator> ConfigDesk::runWithId(const std::string& id) const
{
    const auto found = std::find_if(m_runs.begin(), m_runs.end(),
        [&id](const auto& entry) { return entry.second.isLoaded && entry.second.id == id; });
    return found == m_runs.end() ? std::nullopt : std::optional(found->first);
}

RunSteering ConfigDesk::describe(const Run& run, const Revision* revision)
{
    RunSteering out;
    out.runId = run.id;
    if (revision != nullptr) {
        out.rev = revision->rev;
        out.config = revision->json ? *revision->json : std::string();
        out.author = revision->author;
        out.applyAtStep = revision->applyAtStep;
        out.wallNs = revision->wallNs;
        out.asked = revision->ranks;
    }
    for (const auto& [id, rank] : run.ranks) {
        RankSteering view = rank.view();
        if (revision != nullptr && revision->asks(id) && view.rev != revision->rev) {
            // Not yet, not this one any more, or never.
            const bool isReplaced = view.rev > revision->rev;
            const bool isRefused = isReplaced || !revision->failure.empty();
            view.state = isRefused ? State::Refused : rank.connection() != 0 ? State::None : State::Lost;
            view.reason = isReplaced ? fmt::format("revision {} has replaced it", view.rev) : revision->failure;
            view.rev = revision->rev;
            view.step = 0;
            view.tookMs = -1;
        }
        out.ranks.push_back(std::move(view));
    }
    return out;
}

}
