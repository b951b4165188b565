// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <telltale/config/monitorconfig.h>
#include <telltale/core/threadhome.h>
#include <telltale/protocol/messages.h>

namespace telltale::agent {

/// Whether this training takes configs while it runs, and if not, why.
struct SteeringPolicy {
    bool isServed = false; ///< the training's program can
    bool isAllowed = true; ///< TELLTALE_REMOTE_CONFIG does not forbid it
};

/// Between the server that offers configs and the training that runs them: what is offered is judged on the sender's
/// thread, waits for its step, and the training takes it whole. One offer waits at a time; a later one replaces it.
/// Thread: see each part.
class Steering {
public:
    struct Due {
        std::uint64_t rev = 0;
        std::int64_t applyAtStep = 0;
        std::string json; ///< every field, as monitorConfigText() has them
        std::string hash;
    };

    explicit Steering(SteeringPolicy policy)
        : m_policy(policy)
    {
    }

    // -- training thread; none waits for the sender but for the moment that it takes to move a pointer

    /// The config that is to be in force from `nextStep` on, which begins now; null = none. Valid until the next call.
    const Due* due(std::int64_t nextStep);
    /// Where the training may write the step in progress instead of asking, and look whether it must ask.
    void words(std::int64_t*& nextStep, const std::uint8_t*& isWaiting);
    /// What is in force from `step` on. rev: of the offer that was due, else 0.
    void setInForce(std::uint64_t rev, std::int64_t step, std::string json, std::string why);
    /// The offer that was due cannot be put in force.
    void refuse(std::uint64_t rev, std::int64_t step, std::string reason);

    /// Why the server wants what the flight recorder keeps, once; null = it does not. Valid until the next call. What
    /// a server may ask for beside configs needs no policy: it changes nothing.
    const std::string* recorderAsked();

    /// Whether what waits says the same. Thread: any.
    bool isWaiting(const char* json);

    /// The step in progress, 0 = not known. Thread: any.
    std::int64_t step() const
    {
        const std::int64_t step = m_step.load(std::memory_order_relaxed);
        return step == kNoStep ? 0 : step;
    }

    // -- sender

    bool isOpen() const { return m_policy.isServed && m_policy.isAllowed; }
    /// Judges an offer; what the server is to hear at once.
    std::optional<protocol::ConfigStatus> take(const protocol::ConfigOffer& offer);
    void take(const protocol::RecorderAsk& ask);
    /// What the training has said since the last call, in order, as the server is to hear it.
    std::vector<protocol::ConfigStatus> takeAnswers();
    /// What is in force, for a server that has just been reached: it need not hear what came before.
    std::optional<protocol::ConfigStatus> inForce();
    /// True once after a config took effect with this step or an earlier one: somebody waits for what it brings.
    bool takeUrgency(std::int64_t step);

private:
    static constexpr std::int64_t kNoStep = INT64_MIN;
    struct Waiting {
        Due due;
        protocol::ConfigOffer offer;
    };
    /// What the training says: of an offer, or of what it runs.
    struct Word {
        std::uint32_t status = 0;
        std::uint64_t rev = 0;
        std::int64_t step = 0;
        std::string text; ///< why
        std::string json; ///< in force
    };

    void say(Word word);
    /// Turns what the training has said into answers.
    void listen();
    void note(const Word& word);
    protocol::ConfigStatus answer(const protocol::ConfigOffer& offer);
    /// The sentence that refuses the offer, "" when nothing speaks against it; then `due` holds it.
    std::string judge(const protocol::ConfigOffer& offer, Due& due) const;
    void wait(Waiting waiting);
    void withdraw(std::uint64_t rev);

    const SteeringPolicy m_policy;
    std::atomic<std::int64_t> m_step { kNoStep }; ///< that is in progress
    std::atomic<bool> m_isWaiting { false };
    Due m_due; ///< training: what due() gave last
    std::atomic<bool> m_isRecorderAsked { false };
    std::string m_recorderDue; ///< training: what recorderAsked() gave last
    bool m_isGiven = false; ///< training: and nothing has been said of it

    std::mutex m_mutex; ///< guards what follows
    std::optional<Waiting> m_waiting;
    std::optional<protocol::ConfigOffer> m_unjudged; ///< it was judged by what is no longer in force
    std::string m_recorderWhy;
    std::uint64_t m_changes = 0; ///< of what is in force
    std::vector<Word> m_words;

    // Sender:
    std::uint64_t m_changesHeard = 0;
    std::vector<protocol::ConfigStatus> m_answers;
    config::MonitorConfig m_config; ///< in force
    protocol::ConfigStatus m_inForce;
    std::int64_t m_urgentFrom = INT64_MAX;
    ThreadHome m_home;
};

}
