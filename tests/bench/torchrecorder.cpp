// SPDX-License-Identifier: GPL-3.0-or-later
#include "torchrecorder.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <torch/torch.h>

#include <telltale/torch/watch.h>

namespace telltale::bench {
namespace {

constexpr int kLayers = 12;
constexpr int kWidth = 256;
constexpr int kBatch = 8;
constexpr int kTurns = 41;
constexpr int kSteps = 8; ///< of a turn

double threadMs()
{
    timespec time {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

/// Thread: one.
class Training {
public:
    Training(const char* name, const std::string& folder, const std::string& config)
        : m_model(make())
        , m_optimizer(m_model->parameters(), torch::optim::AdamOptions(1e-4))
        , m_watch(watchAs(name, folder, config, *m_model, m_optimizer))
    {
    }

    void turn()
    {
        const double start = threadMs();
        for (int i = 0; i < kSteps; ++i) {
            m_optimizer.zero_grad();
            m_model->forward(m_input).square().mean().backward();
            m_watch->step();
        }
        m_turns.push_back((threadMs() - start) / kSteps);
    }
    /// Of its turns, but for the warm-up.
    double quartile() const
    {
        std::vector<double> sorted(m_turns.begin() + 2, m_turns.end());
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 4]; // what others do to the processor only adds
    }

private:
    static torch::nn::Sequential make()
    {
        torch::manual_seed(0);
        torch::nn::Sequential model;
        for (int i = 0; i < kLayers; ++i) {
            model->push_back(torch::nn::Linear(kWidth, kWidth));
            model->push_back(torch::nn::Tanh());
        }
        return model;
    }
    static Watch watchAs(const char* name, const std::string& folder, const std::string& config,
        torch::nn::Module& model, torch::optim::Optimizer& optimizer)
    {
        ::setenv("TELLTALE_MODE", "offline", 1);
        ::setenv("TELLTALE_DIR", (folder + "/" + name).c_str(), 1);
        ::setenv("TELLTALE_RUN_ID", name, 1);
        return watch(model, optimizer, config);
    }

    torch::nn::Sequential m_model;
    torch::optim::Adam m_optimizer;
    torch::Tensor m_input = torch::randn({ kBatch, kWidth });
    Watch m_watch;
    std::vector<double> m_turns;
};

}

RecorderCost recorderCost(const std::string& folder)
{
    at::set_num_threads(1);
    Training sent("sent", folder, R"({"wg_distribution": true})");
    Training kept("kept", folder, R"({"wg_distribution": true, "telltale": {"flight_recorder": 32}})");
    Training all("all", folder, R"({"wg_distribution": true, "param_distribution": true, "mv_distribution": true,
        "xy_distribution": true, "all_xy": true})");
    for (int i = 0; i < kTurns; ++i) {
        for (Training* one : { &sent, &kept, &all })
            one->turn();
    }
    return { sent.quartile(), kept.quartile(), all.quartile() };
}

}
