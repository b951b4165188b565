// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/attentionstats.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace telltale {
namespace {

/// [head, position, dim] in float, last dimension dense.
torch::Tensor firstSequence(const torch::Tensor& tensor)
{
    auto view = tensor.detach();
    if (view.dim() == 4)
        view = view.select(0, 0);
    view = view.to(torch::kFloat32);
    return view.stride(2) == 1 ? view : view.contiguous();
}

/// Lanes side by side, so that the compiler may use vector registers without being allowed to reorder one sum.
float dot(const float* a, const float* b, std::int64_t n)
{
    constexpr std::int64_t kLanes = 8;
    std::array<float, kLanes> lanes {};
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane)
            lanes[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
    }
    float sum = 0;
    for (; i < n; ++i)
        sum += a[i] * b[i];
    for (const float lane : lanes)
        sum += lane;
    return sum;
}

/// Entropy and maximum of softmax(scores), and the largest score: with d = s - max, H = ln(sum e^d) - sum(d e^d) /
/// sum(e^d), p_max = 1 / sum(e^d).
HeadStats rowStats(const std::vector<float>& scores, std::size_t keys)
{
    float top = -std::numeric_limits<float>::infinity();
    bool isFinite = true;
    for (std::size_t j = 0; j < keys; ++j) {
        top = std::max(top, scores[j]);
        isFinite = isFinite && std::isfinite(scores[j]);
    }
    if (!isFinite) {
        constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
        const auto end = scores.begin() + static_cast<std::ptrdiff_t>(keys);
        const bool hasNan = std::any_of(scores.begin(), end, [](float score) { return std::isnan(score); });
        return { kNan, kNan, hasNan ? kNan : static_cast<double>(top) };
    }
    double sum = 0;
    double weighted = 0;
    for (std::size_t j = 0; j < keys; ++j) {
        const float distance = scores[j] - top;
        const float weight = std::exp(distance);
        sum += weight;
        weighted += static_cast<double>(weight) * static_cast<double>(distance);
    }
    return { std::log(sum) - weighted / sum, 1.0 / sum, static_cast<double>(top) };
}

}

AttentionSample attentionStats(
    const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal, std::size_t maxQueries)
{
    AttentionSample out;
    const auto dims = query.dim();
    if ((dims != 3 && dims != 4) || key.dim() != dims || !query.device().is_cpu() || !key.device().is_cpu()
        || query.numel() == 0 || key.numel() == 0 || query.size(-1) != key.size(-1)
        || query.size(-3) % key.size(-3) != 0 || (causal && key.size(-2) < query.size(-2)) || maxQueries == 0)
        return out;

    torch::NoGradGuard noGrad;
    const auto q = firstSequence(query);
    const auto k = firstSequence(key);
    const auto heads = q.size(0);
    const auto group = heads / k.size(0);
    const auto length = q.size(1);
    const auto keys = k.size(1);
    const auto rows = std::min<std::int64_t>(length, static_cast<std::int64_t>(maxQueries));
    out.queries = static_cast<std::size_t>(rows);
    out.isSampled = rows < length || (dims == 4 && query.size(0) > 1);
    out.heads.resize(static_cast<std::size_t>(heads));

    std::vector<float> scores(static_cast<std::size_t>(keys));
    const auto* const qData = q.data_ptr<float>();
    const auto* const kData = k.data_ptr<float>();
    const auto factor = static_cast<float>(scale);
    for (std::int64_t h = 0; h < heads; ++h) {
        auto& head = out.heads[static_cast<std::size_t>(h)];
        const float* const keyHead = kData + (h / group) * k.stride(0);
        for (std::int64_t r = 0; r < rows; ++r) {
            const auto position = (r + 1) * length / rows - 1;
            const float* const row = qData + h * q.stride(0) + position * q.stride(1);
            const auto seen = causal ? position + keys - length + 1 : keys;
            for (std::int64_t j = 0; j < seen; ++j)
                scores[static_cast<std::size_t>(j)] = factor * dot(row, keyHead + j * k.stride(1), q.size(2));
            const auto stats = rowStats(scores, static_cast<std::size_t>(seen));
            head.entropy += stats.entropy;
            head.softmaxMax += stats.softmaxMax;
            if (!(stats.maxLogit <= head.maxLogit) && !std::isnan(head.maxLogit))
                head.maxLogit = stats.maxLogit;
        }
        head.entropy /= static_cast<double>(rows);
        head.softmaxMax /= static_cast<double>(rows);
    }
    return out;
}

}
