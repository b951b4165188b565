// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/steering.h>

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <telltale/agent/memoryprobe.h>
#include <telltale/config/revision.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>

namespace telltale::agent {
namespace {

namespace status = protocol::configstatus;

constexpr std::size_t kMostProblems = 8; // in one sentence
constexpr std::size_t kMostWords = 64; // of a training that nobody hears

std::string listed(const std::vector<std::string>& parts, const char* between)
{
    const std::size_t shown = std::min(parts.size(), kMostProblems);
    std::string out;
    for (std::size_t i = 0; i < shown; ++i)
        out.append(i == 0 ? "" : between).append(parts[i]);
    return shown == parts.size() ? out : fmt::format("{} and {} more", out, parts.size() - shown);
}

}

const Steering::Due* Steering::due(std::int64_t nextStep)
{
    m_step.store(nextStep, std::memory_order_relaxed);
    if (!m_isWaiting.load(std::memory_order_acquire))
        return nullptr;
    const std::lock_guard lock(m_mutex);
    if (!m_waiting || m_waiting->due.applyAtStep > nextStep)
        return nullptr;
    m_due = std::move(m_waiting->due);
    m_waiting.reset();
    m_isWaiting.store(false, std::memory_order_relaxed);
    m_isGiven = m_due.applyAtStep <= 0 || m_due.applyAtStep == nextStep;
    if (m_isGiven)
        return &m_due;
    m_words.push_back({ status::kPassed, m_due.rev, nextStep, {}, {} });
    return nullptr;
}

const std::string* Steering::recorderAsked()
{
    if (!m_isRecorderAsked.load(std::memory_order_acquire))
        return nullptr;
    const std::lock_guard lock(m_mutex);
    m_isRecorderAsked.store(false, std::memory_order_relaxed);
    m_recorderDue.swap(m_recorderWhy);
    return &m_recorderDue;
}

void Steering::take(const protocol::RecorderAsk& ask)
{
    m_home.check();
    const std::lock_guard lock(m_mutex);
    m_recorderWhy = protocol::toName(ask.why);
    m_isRecorderAsked.store(true, std::memory_order_release);
}

void Steering::words(std::int64_t*& nextStep, const std::uint8_t*& isWaiting)
{
    static_assert(sizeof(m_step) == sizeof(std::int64_t) && decltype(m_step)::is_always_lock_free);
    static_assert(sizeof(m_isWaiting) == sizeof(std::uint8_t) && decltype(m_isWaiting)::is_always_lock_free);
    nextStep = reinterpret_cast<std::int64_t*>(&m_step);
    isWaiting = reinterpret_cast<const std::uint8_t*>(&m_isWaiting);
}

void Steering::setInForce(std::uint64_t rev, std::int64_t step, std::string json, std::string why)
{
    if (m_step.load(std::memory_order_relaxed) < step)
        m_step.store(step, std::memory_order_relaxed);
    const bool isApplied = std::exchange(m_isGiven, false) && rev == m_due.rev;
    say({ isApplied ? status::kApplied : status::kInForce, rev, step, std::move(why), std::move(json) });
}

void Steering::refuse(std::uint64_t rev, std::int64_t step, std::string reason)
{
    m_isGiven = false;
    say({ status::kRefused, rev, step, std::move(reason), {} });
}

void Steering::say(Word word)
{
    const std::lock_guard lock(m_mutex);
    if (word.status != status::kRefused) {
        ++m_changes;
        if (m_waiting)
            m_unjudged = std::move(m_waiting->offer);
        m_waiting.reset();
        m_isWaiting.store(false, std::memory_order_relaxed);
    }
    if (m_words.size() >= kMostWords)
        m_words.erase(m_words.begin());
    m_words.push_back(std::move(word));
}

bool Steering::isWaiting(const char* json)
{
    if (!m_isWaiting.load(std::memory_order_acquire))
        return false;
    const auto parsed = config::parseMonitorConfig(json);
    const std::string hash = parsed ? config::configHash(parsed->config) : std::string();
    const std::lock_guard lock(m_mutex);
    return m_waiting && m_waiting->due.hash == hash;
}

std::optional<protocol::ConfigStatus> Steering::take(const protocol::ConfigOffer& offer)
{
    m_home.check();
    if (offer.rev == 0 || offer.rev > protocol::limits::kMaxSeq)
        return std::nullopt; // no answer could name it
    listen();
    return answer(offer);
}

protocol::ConfigStatus Steering::answer(const protocol::ConfigOffer& offer)
{
    const std::int64_t step = m_step.load(std::memory_order_relaxed);
    protocol::ConfigStatus out { offer.rev, status::kAccepted, {}, step == kNoStep ? 0 : step + 1, {}, {} };
    Waiting waiting { {}, offer };
    if (out.reason = judge(offer, waiting.due); !out.reason.empty()) {
        out.status = status::kRefused;
        protocol::mendReason(out);
    } else if (offer.rev == m_inForce.rev && waiting.due.hash == m_inForce.hash) {
        out = { offer.rev, status::kApplied, {}, m_inForce.step, m_inForce.hash, {} };
    } else if (step != kNoStep && offer.applyAtStep > 0 && offer.applyAtStep <= step) {
        out.status = status::kPassed;
        withdraw(offer.rev);
    } else {
        wait(std::move(waiting));
    }
    return out;
}

std::string Steering::judge(const protocol::ConfigOffer& offer, Due& due) const
{
    if (!m_policy.isAllowed)
        return "this training takes no config from elsewhere: TELLTALE_REMOTE_CONFIG is off where it runs";
    if (!m_policy.isServed)
        return "the program that trains takes no config while it runs";
    if (const auto ok = protocol::checkConfigOffer(offer); !ok)
        return ok.error().sentence();
    const auto parsed = config::parseMonitorConfig(offer.json);
    if (!parsed)
        return parsed.error().sentence();
    std::vector<std::string> errors;
    for (const config::Problem& problem : parsed->problems)
        if (problem.isError)
            errors.push_back(problem.sentence);
    if (!errors.empty())
        return listed(errors, "; ");
    if (const auto local = config::localChanges(m_config, parsed->config); !local.empty())
        return fmt::format("only the training's own config.json may change {}, which can reach files, dumps, code, "
                           "the end of the training or the time that monitoring may take of it",
            listed(local, ", "));
    due = { offer.rev, offer.applyAtStep, config::monitorConfigText(parsed->config),
        config::configHash(parsed->config) };
    return {};
}

void Steering::wait(Waiting waiting)
{
    const std::lock_guard lock(m_mutex);
    m_unjudged.reset();
    if (m_changes != m_changesHeard) { // since it was judged
        m_unjudged = std::move(waiting.offer);
        return;
    }
    m_waiting = std::move(waiting);
    m_isWaiting.store(true, std::memory_order_release);
}

void Steering::withdraw(std::uint64_t rev)
{
    const std::lock_guard lock(m_mutex);
    if (m_waiting && m_waiting->due.rev == rev)
        m_waiting.reset();
}

void Steering::listen()
{
    m_home.check();
    std::vector<Word> words;
    std::optional<protocol::ConfigOffer> unjudged;
    {
        const std::lock_guard lock(m_mutex);
        std::size_t length = m_unjudged ? m_unjudged->json.size() : 0;
        for (const Word& word : m_words)
            length = std::max(length, word.json.size());
        if ((m_unjudged || !m_words.empty()) && !hasMemoryFor(length))
            throw std::bad_alloc(); // what was said is heard the next time
        words.swap(m_words);
        unjudged.swap(m_unjudged);
        m_changesHeard = m_changes;
    }
    for (const Word& word : words) {
        note(word);
        if (word.status == status::kInForce) {
            m_answers.push_back(m_inForce);
            continue;
        }
        m_answers.push_back({ word.rev, word.status, word.text, word.step, {}, {} });
        if (word.status == status::kApplied)
            m_answers.back().hash = m_inForce.hash;
        protocol::mendReason(m_answers.back());
    }
    if (!unjudged)
        return;
    if (auto again = answer(*unjudged); again.status != status::kAccepted) // that was said before
        m_answers.push_back(std::move(again));
}

std::vector<protocol::ConfigStatus> Steering::takeAnswers()
{
    listen();
    return std::exchange(m_answers, {});
}

/// What the training runs changes only here, in the order in which it says so.
void Steering::note(const Word& word)
{
    if (word.status != status::kInForce && word.status != status::kApplied)
        return;
    m_inForce = { word.rev, status::kInForce, word.text, word.step, {}, {} };
    auto parsed = config::parseMonitorConfig(word.json);
    m_config = parsed ? std::move(parsed->config) : config::MonitorConfig();
    m_inForce.json = config::canonicalConfigText(m_config);
    m_inForce.hash = config::configHash(m_config);
    if (m_inForce.json.size() > protocol::limits::kMaxConfigBytes) {
        m_inForce.json.clear();
        m_inForce.reason += "; it is too large to be shown";
    }
    protocol::mendReason(m_inForce);
    m_urgentFrom = word.step;
}

std::optional<protocol::ConfigStatus> Steering::inForce()
{
    listen();
    m_answers.clear();
    return m_inForce.status == status::kInForce ? std::optional(m_inForce) : std::nullopt;
}

bool Steering::takeUrgency(std::int64_t step)
{
    listen();
    return step >= m_urgentFrom && std::exchange(m_urgentFrom, INT64_MAX) != INT64_MAX;
}

}
