// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <telltale/core/kinds.h>
#include <telltale/core/samplebatch.h>
#include <telltale/stats/stats.h>

namespace telltale {

/// Where TrainerMon puts what it measured: the agent, or a recording in a test. The calls mirror telltale_agent.h.
/// Thread: training; no call blocks or throws.
class Sink {
public:
    Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    virtual ~Sink() = default;

    /// No stats = the six ops from tt_stats. Returns the layout's id, 0 when refused.
    virtual std::uint32_t addLayout(Kind kind, std::span<const Stat> stats, std::span<const SeriesDesc> series) = 0;
    /// The same for histograms with these edges (core/histogram.h).
    virtual std::uint32_t addHistograms(Kind, std::span<const double> /*edges*/, std::span<const SeriesDesc>)
    {
        return 0;
    }
    /// False: there is no room (the caller then says what was dropped) or nobody listens.
    virtual bool beginStep(std::int64_t step) = 0;
    /// Room for one block between beginStep and commitStep, nullptr when it does not fit.
    virtual tt_stats* stats(std::uint32_t layout) = 0;
    virtual float* floats(std::uint32_t layout, std::uint8_t** present) = 0;
    virtual double* doubles(std::uint32_t layout, std::uint8_t** present) = 0;
    virtual std::uint64_t* counts(std::uint32_t /*layout*/, std::uint8_t** /*present*/) { return nullptr; }
    virtual void commitStep() = 0;
    /// The open step is as if it had not been begun.
    virtual void abandonStep() = 0;
    virtual void dropped(std::int64_t step, std::uint64_t samples, std::uint64_t scalars) = 0;
    /// rule: a word that says it to programs.
    virtual void event(
        const char* kind, std::int64_t step, const std::string& text, const std::string& json, const char* rule = "")
        = 0;
    virtual void blob(const char* kind, const char* name, std::int64_t step, std::string_view bytes) = 0;

    /// What monitoring took of a step that has ended, and how long that was.
    virtual void cost(std::chrono::nanoseconds inside, std::chrono::nanoseconds elapsed) = 0;

    /// One step in `every` is collected from now on, to stay within a budget; 0 = all that the config selects.
    virtual void thinning(std::int64_t every, double percent) = 0;

    /// Between steps: why somebody wants what the flight recorder keeps, once; until the next call.
    virtual std::optional<std::string_view> recorderAsked() = 0;

    struct DueConfig {
        std::uint64_t rev = 0;
        std::string_view json; ///< until the next call
    };
    /// Between steps: what somebody wants in force from `step` on. One of the two after it answers it; the first one on
    /// any thread, before the next call of this.
    virtual std::optional<DueConfig> configDue(std::int64_t step) = 0;
    virtual void setConfigInForce(std::uint64_t rev, std::int64_t step, const std::string& json, const std::string& why)
        = 0;
    virtual void refuseConfig(std::uint64_t rev, std::int64_t step, const std::string& why) = 0;
    /// Whether a config that is not due yet says the same.
    virtual bool isConfigOffered(const std::string& text) = 0;
    /// Whether somebody is there who may send configs. Thread: any.
    virtual bool isSteered() const = 0;
};

}
