// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include <telltale/config/monitorconfig.h>

namespace telltale {

/// The document "attention_map" of some heads of softmax(scale * query . key^T): a line of JSON, then the cells in
/// float16, as the Python agent's attentionmaps.py says. query and key as attentionStats() takes them; of the first
/// sequence; at most `size` rows and columns, made from some rows of scores at a time. Nothing where no head of these
/// is there, the shapes do not fit, or they lie on another device than the processor. Thread: any; no gradient graph,
/// no random numbers.
std::optional<std::string> attentionMapDocument(const torch::Tensor& query, const torch::Tensor& key, double scale,
    bool causal, const std::vector<int>& heads, std::int64_t size);

/// telltale.attention_maps: whose maps are due, and what waits for the end of the step. Thread: as TrainerMon::State.
class AttentionMaps {
public:
    static constexpr std::size_t kMost = 64; ///< of one step

    /// step: of the training when the config comes into force; those that it lists before are not made up for.
    AttentionMaps(const config::MonitorConfig& config, std::int64_t step);

    /// Heads that are asked for of a module, empty = the first few; nothing where none is.
    std::optional<std::vector<int>> headsOf(const std::string& name) const;
    /// In the first step that is collected of an interval, or from a listed step on.
    bool areDue(std::int64_t step) const { return turnOf(step) != m_turn; }
    /// Keeps a module's maps until the step ends; why not, "" when it did.
    std::string add(const std::string& name, const torch::Tensor& query, const torch::Tensor& key, double scale,
        bool causal, const std::vector<int>& heads);
    /// What was kept, by module.
    std::vector<std::pair<std::string, std::string>> take(std::int64_t step);

private:
    std::int64_t turnOf(std::int64_t step) const;

    config::MonitorConfig m_config; ///< its attentionMapsSteps in order
    std::vector<std::pair<std::string, std::string>> m_waiting;
    std::size_t m_count = 0;
    std::int64_t m_turn = -1; ///< the interval that the last maps were of; or how many listed steps are done with
};

}
