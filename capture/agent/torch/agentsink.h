// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include <telltale/agent/telltale_agent.h>
#include <telltale/core/expected.h>
#include <telltale/torch/sink.h>

namespace telltale {

/// A Sink that streams through libtelltale_agent. Owns the agent: the destructor flushes and says goodbye.
/// Thread: training.
class AgentSink final : public Sink {
public:
    static Expected<std::unique_ptr<AgentSink>> open(const tt_options& options);
    ~AgentSink() override;

    std::uint32_t addLayout(Kind kind, std::span<const Stat> stats, std::span<const SeriesDesc> series) override;
    std::uint32_t addHistograms(Kind kind, std::span<const double> edges, std::span<const SeriesDesc> series) override;
    bool beginStep(std::int64_t step) override;
    tt_stats* stats(std::uint32_t layout) override;
    float* floats(std::uint32_t layout, std::uint8_t** present) override;
    double* doubles(std::uint32_t layout, std::uint8_t** present) override;
    std::uint64_t* counts(std::uint32_t layout, std::uint8_t** present) override;
    void commitStep() override;
    void dropped(std::int64_t step, std::uint64_t samples, std::uint64_t scalars) override;
    void abandonStep() override;
    void event(const char* kind, std::int64_t step, const std::string& text, const std::string& json,
        const char* rule) override;
    std::optional<std::string_view> recorderAsked() override;
    void blob(const char* kind, const char* name, std::int64_t step, std::string_view bytes) override;
    void cost(std::chrono::nanoseconds inside, std::chrono::nanoseconds elapsed) override;
    void thinning(std::int64_t every, double percent) override;
    std::optional<DueConfig> configDue(std::int64_t step) override;
    void setConfigInForce(
        std::uint64_t rev, std::int64_t step, const std::string& json, const std::string& why) override;
    void refuseConfig(std::uint64_t rev, std::int64_t step, const std::string& why) override;
    bool isConfigOffered(const std::string& text) override;
    bool isSteered() const override;

    tt_counters counters() const;
    /// The agent's last error as one sentence, empty when there was none.
    std::string lastError() const;
    /// The folder that its spool is in, as long as that keeps anything; else empty.
    std::string keepingFolder() const;
    /// True when everything produced so far is acknowledged.
    bool flush(std::uint32_t timeoutMs);
    /// What the destructor will say: "finished" unless set.
    void setGoodbye(const char* reason) { m_goodbye = reason; }

private:
    explicit AgentSink(tt_agent* agent);

    tt_agent* const m_agent;
    const bool m_takesConfigs;
    tt_step* m_step = nullptr;
    const char* m_goodbye = "finished";
};

}
