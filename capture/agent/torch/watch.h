// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <telltale/torch/sink.h>
#include <telltale/torch/trainermon.h>

namespace telltale {

/// A monitor with the sink it streams through, in the order in which they must die. Thread: training.
class Watch {
public:
    Watch(std::unique_ptr<Sink> sink, MonitorOptions options)
        : m_sink(std::move(sink))
        , m_speaks(options.rank == 0)
        , m_monitor(std::make_unique<TrainerMon>(*m_sink, std::move(options)))
    {
    }
    TrainerMon* operator->() { return m_monitor.get(); }
    TrainerMon& monitor() { return *m_monitor; }

    /// What the run was started with, a JSON object; a later one takes its place. False, and a sentence on standard
    /// error, where it is none. Rank 0 says this and the next two for the run.
    bool hyperparameters(const std::string& json);
    void tags(const std::vector<std::string>& tags); ///< short words to find the run by; added to those it has
    void notes(const std::string& text); ///< what people should know of it; what a person has written stays

private:
    std::unique_ptr<Sink> m_sink;
    bool m_speaks;
    std::unique_ptr<TrainerMon> m_monitor;
};

/// The short way: watches a model and its optimizer with the join string of TELLTALE_JOIN. `config` is a path, JSON
/// text, or empty for everything. Never fails: what is wrong is said on standard error and the training goes on
/// unwatched.
///
///     auto watch = telltale::watch(*model, optimizer);
///     for (...) {
///         auto loss = ...; loss.backward();
///         watch->log("loss", loss.item<double>());
///         watch->step(); // instead of optimizer.step()
///     }
Watch watch(torch::nn::Module& model, torch::optim::Optimizer& optimizer, const std::string& config = {},
    ModelOptions options = {});

}
