// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <telltale/torch/attentionmaps.h>
#include <telltale/torch/attentionstats.h>
#include <telltale/torch/configkeeper.h>
#include <telltale/torch/flightrecorder.h>
#include <telltale/torch/moments.h>
#include <telltale/torch/overheadbudget.h>
#include <telltale/torch/seriestable.h>
#include <telltale/torch/strikes.h>
#include <telltale/torch/tapregistry.h>
#include <telltale/torch/trainermon.h>
#include <telltale/torch/visit.h>

namespace telltale {

/// What the config in force selects, and how far it has come. Thread: as TrainerMon::State.
struct Watched {
    struct Parameter {
        std::string name;
        torch::Tensor tensor;
        MomentKey key {};
        unsigned hook = 0;
        bool hasHook = false;
        int calls = 0; ///< backward passes in this step
    };

    std::vector<Parameter> m_parameters;
    TapRegistry m_taps;
    SeriesTable m_paramOrigin { Kind::ParamOrigin, {} };
    SeriesTable m_paramUpdated { Kind::ParamUpdated, {} };
    SeriesTable m_gradUnreduced { Kind::GradUnreduced, {} };
    SeriesTable m_gradReduced { Kind::GradReduced, {} };
    SeriesTable m_expAvg { Kind::ExpAvg, {} };
    SeriesTable m_expAvgSq { Kind::ExpAvgSq, {} };
    SeriesTable m_actv { Kind::Actv, {} };
    SeriesTable m_actvGrad { Kind::ActvGrad, {} };
    SeriesTable m_attention { Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax, Stat::MaxLogit } };
    std::set<std::string> m_matched; ///< targets that selected something
    std::int64_t m_collected = 0; ///< steps published with more than scalars
    std::int64_t m_measured = 0; ///< steps, for the flight recorder alone included
    config::MonitorConfig m_wanted; ///< what the config sends and what the flight recorder keeps
    std::optional<FlightRecorder> m_recorder; ///< where the config has one
    std::optional<AttentionMaps> m_maps; ///< where the config asks for some

    std::array<SeriesTable*, 10> tables(SeriesTable& scalars)
    {
        return { &m_paramOrigin, &m_paramUpdated, &m_gradUnreduced, &m_gradReduced, &m_actv, &m_actvGrad, &m_expAvg,
            &m_expAvgSq, &m_attention, &scalars };
    }
};

/// What TrainerMon is made of. Gradient hooks hold it weakly, so that a graph may outlive the monitor.
/// Thread: training and autograd's; every public function takes the lock, which only autograd's threads ever contend
/// for.
class TrainerMon::State : public std::enable_shared_from_this<TrainerMon::State>, private Watched {
public:
    State(Sink& sink, MonitorOptions options);

    void setMonitor(torch::nn::Module& model, torch::optim::Optimizer& optimizer, ModelOptions options);
    void removeHooks();
    void tap(std::string_view name, const torch::Tensor& tensor, const Slot& slot);
    void attention(
        std::string_view name, const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal);
    void log(std::string_view name, double value);
    void beforeStep();
    void afterStep();

    torch::optim::Optimizer* optimizer() const { return m_optimizer; }
    std::int64_t step() const { return m_step; }
    bool isCollecting() const { return m_isCollecting; }
    bool lookAtConfigNow() { return m_keeper.file() && m_keeper.file()->lookNow(); }
    std::chrono::nanoseconds lastCost() const { return m_lastCost; }
    std::uint64_t internalErrors() const { return m_strikes.total(); }

private:
    /// Makes series and taps anew for the config in force.
    void watchParameters();
    void hook();
    void unhook(std::vector<Parameter>& parameters);
    bool isOfThisRank() const;
    /// Between steps: another config, the switch, the end of a collection.
    void steer();
    /// Whole or not at all: why not.
    std::string put(const ConfigKeeper::Change& change);
    ConfigKeeper::Collection collection() const
    {
        return { m_isSwitchedOn, m_collected, m_options.config.collectTimes };
    }
    void gradientArrived(std::size_t parameter, const torch::Tensor& gradient);
    void tapGradientArrived(std::size_t point, std::size_t call, std::int64_t step, const torch::Tensor& gradient);
    /// Series of one call of a tap point, made at the first.
    std::size_t tapSeries(SeriesTable& table, std::vector<std::size_t>& known, const TapPoint& point, std::size_t call,
        const torch::Tensor& tensor, std::uint32_t formBits);
    void addHeads(const std::string& name, std::size_t call, const AttentionSample& sample, const torch::Tensor& query,
        const torch::Tensor& key);
    /// Where the step in progress wants a module's maps.
    void mapAttention(
        const std::string& name, const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal);
    int microStep(std::size_t call) const { return m_model.gradAccSteps > 1 ? static_cast<int>(call) : -1; }
    template <typename Pick> void measureParameters(SeriesTable& table, Pick&& pick);
    void measure(const torch::Tensor& tensor, SeriesTable& table, std::size_t series);
    void publish();
    void setScalar(std::string_view name, double value);
    void startStep();
    void endStep(Visit::Clock::time_point since);
    /// Between steps: what the one that ends took may change how many of the next are collected.
    void heedBudget(Visit::Clock::time_point since);
    /// What was measured for it goes: another config takes other time.
    void renewBudget();
    /// Whether the targets select `name`; remembers which target did.
    bool selects(std::string_view name);
    /// Decides at the first call of a tap point what is wanted of it.
    void choose(TapPoint& point);
    /// Names the targets that selected nothing in the first step that was collected.
    void tellIdleTargets();
    void tellUnserved();
    void notObserved(const SeriesTable& table, std::size_t series, const char* reason);
    /// An event, once for each sentence. True when it is new.
    bool tell(const std::string& sentence);
    /// The same, and on the training's own output, where whoever wrote the config looks first.
    void tellAloud(const std::string& sentence);
    template <typename Work> void guarded(Kind kind, Work&& work)
    {
        m_strikes.run(kind, work, [this](const std::string& sentence) { tell(sentence); });
    }
    std::array<SeriesTable*, 10> tables() { return Watched::tables(m_scalars); }
    /// Whether the step in progress wants a kind, to be sent or to be kept.
    bool isMeasured(Kind kind) const { return m_recorder && m_recorder->keeps(kind) ? m_isKept : m_isSent; }
    /// What the config leaves to the flight recorder; before anything is watched.
    void planRecorder();
    bool admits(std::int64_t number) const { return !m_budget || m_budget->admits(number); }

    Sink& m_sink;
    MonitorOptions m_options;
    ConfigKeeper m_keeper;
    ModelOptions m_model;
    torch::optim::Optimizer* m_optimizer = nullptr;

    std::mutex m_lock;
    std::vector<std::pair<std::string, torch::Tensor>> m_named; ///< the model's parameters, each once
    SeriesTable m_scalars { Kind::Scalar, { Stat::Value } };

    std::vector<tt_tensor> m_kernelTable;
    std::vector<torch::Tensor> m_copies;
    std::set<std::string> m_reported;
    Strikes m_strikes;
    std::unordered_map<std::string, std::size_t> m_scalarNumbers;
    std::string m_scalarName;
    std::int64_t m_step = 0;
    bool m_isSwitchedOn = true;
    bool m_isHooked = false;
    bool m_isCollecting = false; ///< either of
    bool m_isSent = false, m_isKept = false;
    std::chrono::nanoseconds m_rare { 0 }; ///< what sending few steps takes, a step
    std::chrono::nanoseconds m_cost { 0 };
    std::chrono::nanoseconds m_lastCost { 0 };
    std::optional<OverheadBudget> m_budget; ///< where the config has one
    Visit::Clock::time_point m_boundary {}; ///< when the step in progress began; nothing before the first has ended
};

}
