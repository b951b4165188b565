// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include <telltale/config/revision.h>
#include <telltale/torch/configfile.h>
#include <telltale/torch/trainermon.h>

#include "torchrecordingsink.h"

namespace telltale {

struct TinyModel : torch::nn::Module {
    TinyModel()
        : first(6, 5)
        , second(5, 3)
    {
        register_module("first", first);
        register_module("second", second);
    }
    torch::nn::Linear first, second;
};

/// A training whose sink is asked for configs. Thread: the test's.
struct Training {
    /// config: a path or JSON text; "" = not watched. prepare: changes the model that is watched.
    explicit Training(const std::string& config, int rank = 0, const std::function<void(TinyModel&)>& prepare = {})
    {
        torch::manual_seed(7);
        model = std::make_shared<TinyModel>();
        optimizer = std::make_unique<torch::optim::AdamW>(model->parameters(), torch::optim::AdamWOptions(0.01));
        if (config.empty())
            return;
        if (prepare)
            prepare(*model);
        const auto loaded = loadMonitorConfig(config).value();
        MonitorOptions options;
        options.config = loaded.config;
        options.configText = loaded.text;
        options.configPath = pathOf(config);
        options.rank = rank;
        monitor = std::make_unique<TrainerMon>(sink, options);
        monitor->setMonitor(*model, *optimizer);
    }
    void run(int steps = 1)
    {
        for (int i = 0; i < steps; ++i) {
            auto hidden = model->first(torch::randn({ 4, 6 }));
            if (monitor)
                monitor->tap("first", hidden);
            model->second(torch::dropout(torch::relu(hidden), 0.3, true)).square().mean().backward();
            if (monitor)
                monitor->step();
            else
                optimizer->step();
            optimizer->zero_grad();
        }
    }
    void push(std::int64_t step, std::uint64_t rev, const std::string& json)
    {
        sink.offers.push_back({ step, rev, config::monitorConfigText(config::parseMonitorConfig(json)->config) });
    }
    /// Hooks of ours on the weights, and the places that LibTorch keeps for them.
    std::pair<std::size_t, std::size_t> hooks() const
    {
        std::size_t live = 0;
        std::size_t places = 0;
        for (const auto& tensor : model->parameters()) {
            const auto& list = torch::autograd::impl::materialize_autograd_meta(tensor)->cpp_hooks_list_;
            for (std::size_t i = 0; list && i < list->size(); ++i, ++places)
                live += (*list)[i] ? 1 : 0;
        }
        return { live, places };
    }
    std::vector<std::int64_t> steps(Kind kind, std::int64_t upTo) const
    {
        std::vector<std::int64_t> out;
        for (std::int64_t step = 0; step < upTo; ++step)
            if (sink.has(step, kind))
                out.push_back(step);
        return out;
    }

    RecordingSink sink;
    std::shared_ptr<TinyModel> model;
    std::unique_ptr<torch::optim::AdamW> optimizer;
    std::unique_ptr<TrainerMon> monitor;
};

inline std::vector<std::int64_t> range(std::int64_t from, std::int64_t to)
{
    std::vector<std::int64_t> out;
    for (; from < to; ++from)
        out.push_back(from);
    return out;
}

inline bool bitwiseEqual(const torch::nn::Module& a, const torch::nn::Module& b)
{
    const auto left = a.parameters();
    const auto right = b.parameters();
    for (std::size_t i = 0; i < left.size(); ++i)
        if (!torch::equal(left[i], right[i]))
            return false;
    return left.size() == right.size();
}

}
