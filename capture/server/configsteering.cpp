// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/configsteering.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <telltale/server/peerlog.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/runreader.h>

namespace telltale::server {
namespace {

constexpr auto kAgainAfter = std::chrono::seconds(1);
constexpr std::size_t kMostUnwritten = 100'000; ///< answers; the oldest are let go of

/// Whether somebody has pushed something after a revision, or a rank has not answered yet.
bool isTaken(const RunSteering& steering, std::uint64_t after)
{
    return steering.rev != after || std::any_of(steering.ranks.begin(), steering.ranks.end(), [](const auto& rank) {
        return rank.state == RankSteering::State::Offered || rank.state == RankSteering::State::Accepted;
    });
}

}

void SteeringTable::publish(std::vector<RunSteering> runs)
{
    std::function<void()> wake;
    {
        const std::lock_guard lock(m_mutex);
        m_runs = std::move(runs);
        wake = m_wake;
    }
    if (wake)
        wake();
}

std::vector<RunSteering> SteeringTable::snapshot() const
{
    const std::lock_guard lock(m_mutex);
    return m_runs;
}

void SteeringTable::setWake(std::function<void()> wake)
{
    const std::lock_guard lock(m_mutex);
    m_wake = std::move(wake);
}

ConfigSteering::ConfigSteering(store::StoreService& store, SteeringTable& table, PeerLog::Sink log)
    : m_store(store)
    , m_table(table)
    , m_log(std::move(log))
    , m_jobs([this] {
        QMetaObject::invokeMethod(
            this, [this] { m_jobs.deliver(); }, Qt::QueuedConnection);
    })
{
}

Expected<ConfigSteering::Found> ConfigSteering::look(const store::RunHandle& run)
{
    Found found { run.locator, run.id, run.name, false, {}, {} };
    const auto reader = store::openReader(run);
    if (!reader)
        return tl::unexpected(reader.error());
    const auto catalog = (*reader)->catalog();
    if (!catalog)
        return tl::unexpected(catalog.error());
    if (auto read = found.history.update(**reader); !read)
        return tl::unexpected(read.error());
    std::map<Rank, store::SourceInfo> newest;
    for (const store::SourceInfo& source : (*catalog)->sources) {
        const auto known = newest.try_emplace(source.rank, source).first;
        if (source.attempt >= known->second.attempt)
            known->second = source;
    }
    for (const auto& [rank, source] : newest)
        found.ranks.push_back({ rank, source.state == store::SourceState::Finished });
    return found;
}

Expected<ConfigSteering::Found> ConfigSteering::resolve(const std::string& dataDir, const std::string& word)
{
    const auto locator = store::findRun(dataDir, word);
    if (!locator)
        return tl::unexpected(locator.error());
    // Whoever may steer runs may not write into other files of this user.
    const auto ours = store::capsulePaths(dataDir);
    if (std::find(ours.begin(), ours.end(), locator->text()) == ours.end())
        return failure(ErrorCode::NotFound, "there is no run with the id or name \"" + word + "\" in " + dataDir);
    const store::RunSummary summary = store::describeRun(*locator);
    return Found { *locator, summary.id, summary.name, summary.state == store::RunState::Finished, {}, {} };
}

void ConfigSteering::take(const Found& found)
{
    if (!m_desk.knows(found.locator))
        m_desk.open(found.locator, found.id, found.name);
    m_desk.load(found.locator, found.history, found.ranks, Clock::now());
    act();
}

void ConfigSteering::attach(std::uint64_t connection, const store::RunRef& run, const RankDesk::Peer& peer)
{
    m_home.check();
    if (!m_desk.knows(run->locator)) {
        m_desk.open(run->locator, run->id, run->name);
        read(run, false);
    }
    m_desk.attach(connection, run->locator, peer, Clock::now());
    act();
}

void ConfigSteering::read(const store::RunRef& run, bool isAgain)
{
    m_jobs.submit([this, run, isAgain]() -> JobQueue::Delivery {
        return [this, run, isAgain, found = look(*run)] {
            if (found)
                return take(*found);
            // Nothing is offered there, since what was offered before is not known.
            m_unread.push_back({ run, Clock::now() + kAgainAfter });
            if (m_log && !isAgain)
                m_log("the configs of " + escaped(run->name) + " cannot be read: " + escaped(found.error().sentence())
                    + "; asking again every second");
        };
    });
}

void ConfigSteering::onStep(std::uint64_t connection, Step step, std::int64_t wallNs)
{
    m_desk.onStep(connection, step, wallNs);
}

void ConfigSteering::onNextStep(std::uint64_t connection, std::int64_t step)
{
    m_desk.onNextStep(connection, step, Clock::now());
}

void ConfigSteering::onStatus(std::uint64_t connection, const protocol::ConfigStatus& status)
{
    m_desk.onStatus(connection, status, Clock::now());
    act();
}

void ConfigSteering::detach(std::uint64_t connection, bool isFinished)
{
    m_desk.detach(connection, isFinished, Clock::now());
    act();
}

void ConfigSteering::onWritten(const store::RecordWritten& written)
{
    if (written.id == 0 && m_log)
        m_log("what became of a config cannot be written: " + escaped(written.error.sentence()));
    m_desk.onWritten(written, Clock::now());
    act();
    const auto first = std::stable_partition(m_pushed.begin(), m_pushed.end(),
        [this](const Pushed& pushed) { return !m_desk.isWritten(pushed.run, pushed.rev); });
    const std::vector<Pushed> told(std::make_move_iterator(first), std::make_move_iterator(m_pushed.end()));
    m_pushed.erase(first, m_pushed.end());
    for (const Pushed& pushed : told)
        pushed.say(m_desk.steering(pushed.run, pushed.rev).value());
}

void ConfigSteering::sweep(Clock::time_point now)
{
    m_home.check();
    const auto due = std::stable_partition(
        m_unread.begin(), m_unread.end(), [now](const Unread& unread) { return unread.again > now; });
    const std::vector<Unread> again(due, m_unread.end());
    m_unread.erase(due, m_unread.end());
    for (const Unread& unread : again) {
        if (!m_desk.isLoaded(unread.run->locator))
            read(unread.run, true);
    }
    m_desk.tick(now);
    act();
    if (m_desk.takeChanged())
        m_table.publish(m_desk.steering());
}

void ConfigSteering::act()
{
    for (store::OwnRecord& record : m_desk.takeRecords())
        m_unwritten.push_back(std::move(record));
    while (!m_unwritten.empty() && m_store.append(m_unwritten.front()))
        m_unwritten.pop_front();
    while (m_unwritten.size() > kMostUnwritten)
        m_unwritten.pop_front();
    for (const ConfigDesk::Offer& offer : m_desk.takeOffers()) {
        if (m_way)
            m_way(offer.connection, offer.offer);
    }
}

void ConfigSteering::find(const std::string& word, std::function<void(const Expected<Found>&)> then)
{
    m_jobs.submit([this, word, then = std::move(then)]() -> JobQueue::Delivery {
        return [this, found = resolve(m_store.dataDir(), word), then] {
            // A history grows with every revision: it is read once.
            if (!found || m_desk.isLoaded(found->locator))
                return then(found);
            m_jobs.submit([found, then]() -> JobQueue::Delivery {
                auto whole = look(store::RunHandle { found->locator, found->id, found->name, nullptr });
                if (whole)
                    whole->isOver = found->isOver;
                return [whole = std::move(whole), then] { then(whole); };
            });
        };
    });
}

void ConfigSteering::push(const ConfigRequest& request, SteeringAnswer answer)
{
    m_home.check();
    auto config = checkedConfig(request.config);
    const auto say = [answer = std::move(answer)](const Expected<RunSteering>& said) {
        if (answer)
            answer(said);
    };
    if (!config)
        return say(tl::unexpected(config.error()));
    find(request.runId, [this, say, request, config = std::move(*config)](const Expected<Found>& found) {
        if (!found)
            return say(tl::unexpected(found.error()));
        take(*found);
        if (found->isOver)
            return say(failure(ErrorCode::BadInput, "the training of " + found->name + " has finished",
                "nobody is left to run another config"));
        if (const auto steering = m_desk.steering(found->locator);
            request.onlyAfter && steering && isTaken(*steering, *request.onlyAfter))
            return say(failure(ErrorCode::Busy, "another config is on its way to " + found->name));
        const auto rev
            = m_desk.push(found->locator, config, request.ranks, request.atStep, request.author, Clock::now());
        act();
        if (rev)
            m_pushed.push_back({ found->locator, *rev, say });
        else
            say(tl::unexpected(rev.error()));
    });
}

void ConfigSteering::ask(const std::string& run, std::uint64_t rev, const SteeringAnswer& answer)
{
    m_home.check();
    const auto say = [this, run, rev, answer](const store::RunLocator& locator) {
        const auto steering = m_desk.steering(locator, rev);
        if (steering)
            answer(*steering);
        else
            answer(failure(
                ErrorCode::NotFound, "nothing is known of revision " + std::to_string(rev) + " of the run " + run));
    };
    // Who waits for answers asks again and again.
    if (const auto known = m_desk.runWithId(run))
        return say(*known);
    find(run, [this, say, answer](const Expected<Found>& found) {
        if (!found)
            return answer(tl::unexpected(found.error()));
        take(*found);
        say(found->locator);
    });
}

}
