// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/attentionmaps.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

namespace telltale {
namespace {

constexpr std::int64_t kScratch = 1 << 20; ///< scores at a time
constexpr std::int64_t kMostScores = 1 << 28; ///< of a head; of longer sequences every n-th query is looked at
constexpr std::int64_t kMostRows = 1 << 16;
constexpr std::size_t kUsualHeads = 4;
constexpr double kUnseen = -1;

std::int64_t shares(std::int64_t what, std::int64_t among)
{
    return (what + among - 1) / among;
}

/// How queries and keys fall into cells.
struct Grid {
    Grid(std::int64_t queries, std::int64_t keys, std::int64_t size)
        : stride(shares(queries, std::max<std::int64_t>(1, std::min(kMostRows, kMostScores / keys))))
        , looked((queries - std::min(stride, queries)) / stride + 1)
        , height(shares(looked, size))
        , width(shares(keys, size))
        , rows(shares(looked, height))
        , columns(shares(keys, width))
    {
    }
    const std::int64_t stride, looked, height, width, rows, columns;
};

/// Blocks of `each` along dimension `dim` of [a, b], what there is beyond the last one is 0.
torch::Tensor inBlocks(const torch::Tensor& values, std::int64_t dim, std::int64_t blocks, std::int64_t each)
{
    const auto over = blocks * each - values.size(dim);
    const auto padded = dim == 1 ? torch::constant_pad_nd(values, { 0, over }, 0)
                                 : torch::constant_pad_nd(values, { 0, 0, 0, over }, 0);
    return dim == 1 ? padded.reshape({ -1, blocks, each }) : padded.reshape({ blocks, each, -1 });
}

/// [rows, columns] of one head: q [Sq, d], k [Sk, d].
torch::Tensor cellsOf(const torch::Tensor& q, const torch::Tensor& k, const Grid& grid, double scale, bool causal)
{
    const auto queries = q.size(0);
    const auto keys = k.size(0);
    const auto at = torch::arange(std::min(grid.stride, queries) - 1, queries, grid.stride);
    const auto column = torch::arange(keys);
    auto given = torch::empty({ grid.looked, grid.columns });
    auto seen = torch::ones({ grid.looked, grid.columns }, torch::kBool);
    const auto step = std::max<std::int64_t>(1, kScratch / keys);
    const auto wide = k.to(torch::kFloat32).t();
    for (std::int64_t first = 0; first < grid.looked; first += step) {
        const auto last = std::min(first + step, grid.looked);
        const auto some = at.slice(0, first, last);
        auto scores = torch::matmul(q.index_select(0, some).to(torch::kFloat32), wide) * scale;
        auto broken = scores.isfinite().logical_not();
        torch::Tensor weights;
        if (causal) {
            const auto allowed = column.unsqueeze(0) <= (some + (keys - queries)).unsqueeze(1);
            broken = broken.logical_and(allowed);
            scores.masked_fill_(allowed.logical_not(), -1e30);
            weights = torch::softmax(scores, 1).masked_fill_(allowed.logical_not(), 0);
            seen.slice(0, first, last).copy_(inBlocks(allowed, 1, grid.columns, grid.width).any(2));
        } else {
            weights = torch::softmax(scores, 1);
        }
        weights.masked_fill_(broken.any(1, true), std::numeric_limits<double>::quiet_NaN());
        given.slice(0, first, last).copy_(inBlocks(weights, 1, grid.columns, grid.width).sum(2));
    }
    const auto seeing = inBlocks(seen, 0, grid.rows, grid.height);
    const auto looking = seeing.any(2).sum(1, true);
    return (inBlocks(given, 0, grid.rows, grid.height).sum(1) / looking)
        .masked_fill(seeing.any(1).logical_not(), kUnseen);
}

}

std::optional<std::string> attentionMapDocument(const torch::Tensor& query, const torch::Tensor& key, double scale,
    bool causal, const std::vector<int>& heads, std::int64_t size)
{
    const auto dims = query.dim();
    if ((dims != 3 && dims != 4) || key.dim() != dims || !query.device().is_cpu() || !key.device().is_cpu()
        || query.numel() == 0 || key.numel() == 0 || query.size(-1) != key.size(-1)
        || query.size(-3) % key.size(-3) != 0)
        return std::nullopt;
    torch::NoGradGuard noGrad;
    const c10::impl::ExcludeDispatchKeyGuard noCast(c10::autocast_dispatch_keyset);
    const auto q = dims == 4 ? query.detach().select(0, 0) : query.detach();
    const auto k = dims == 4 ? key.detach().select(0, 0) : key.detach();
    const Grid grid(q.size(1), k.size(1), size);
    std::vector<int> found;
    std::vector<torch::Tensor> cells;
    for (const int head : heads) {
        if (head >= q.size(0))
            continue;
        found.push_back(head);
        cells.push_back(cellsOf(q[head], k[head / (q.size(0) / k.size(0))], grid, scale, causal));
    }
    if (found.empty())
        return std::nullopt;
    std::string words = "share of a query's attention, mean over the queries of a row, sum over the keys of a column; "
                        "first sequence";
    if (grid.stride > 1)
        words += "; every " + std::to_string(grid.stride) + "th query";
    words += causal ? ", causal (bottom right)" : "";
    nlohmann::ordered_json head { { "format", 1 }, { "dtype", "float16" }, { "heads", found },
        { "shape", { q.size(0), k.size(0), q.size(1), k.size(1) } }, { "rows", grid.rows }, { "columns", grid.columns },
        { "queries_per_row", grid.stride * grid.height }, { "keys_per_column", grid.width }, { "looked", grid.looked },
        { "scale", scale }, { "call", 0 }, { "chunk", 0 }, { "definition", words } };
    const auto packed = torch::stack(cells).to(torch::kFloat16).contiguous();
    std::string document = head.dump() + '\n';
    document.append(static_cast<const char*>(packed.data_ptr()), static_cast<std::size_t>(packed.numel()) * 2);
    return document;
}

AttentionMaps::AttentionMaps(const config::MonitorConfig& config, std::int64_t step)
    : m_config(config)
{
    auto& steps = m_config.attentionMapsSteps;
    std::sort(steps.begin(), steps.end());
    if (!steps.empty())
        m_turn = std::lower_bound(steps.begin(), steps.end(), step) - steps.begin();
}

std::int64_t AttentionMaps::turnOf(std::int64_t step) const
{
    const auto& steps = m_config.attentionMapsSteps;
    return steps.empty() ? (step - m_config.startStep) / m_config.attentionMapsInterval
                         : std::upper_bound(steps.begin(), steps.end(), step) - steps.begin();
}

std::optional<std::vector<int>> AttentionMaps::headsOf(const std::string& name) const
{
    std::optional<std::set<int>> heads;
    for (const auto& [target, some] : m_config.attentionMaps) {
        if (!config::targetMatches(target, name))
            continue;
        if (!heads)
            heads.emplace();
        heads->insert(some.begin(), some.end());
    }
    if (!heads)
        return std::nullopt;
    return std::vector<int>(heads->begin(), heads->end());
}

std::string AttentionMaps::add(const std::string& name, const torch::Tensor& query, const torch::Tensor& key,
    double scale, bool causal, const std::vector<int>& heads)
{
    std::vector<int> wanted = heads;
    if (wanted.empty()) {
        wanted.resize(kUsualHeads);
        std::iota(wanted.begin(), wanted.end(), 0);
    }
    if (m_count + wanted.size() > kMost)
        return "attention_maps: a step has at most " + std::to_string(kMost) + " maps; those of " + name
            + " and later are left out";
    auto document = attentionMapDocument(query, key, scale, causal, wanted, m_config.attentionMapsSize);
    if (!document)
        return "attention_maps: " + name
            + " has none of the heads asked for, or lies on another device than the "
              "processor; none of its maps are sent";
    m_count += wanted.size();
    m_waiting.emplace_back(name, std::move(*document));
    return {};
}

std::vector<std::pair<std::string, std::string>> AttentionMaps::take(std::int64_t step)
{
    if (!m_waiting.empty())
        m_turn = turnOf(step);
    m_count = 0;
    return std::exchange(m_waiting, {});
}

}
