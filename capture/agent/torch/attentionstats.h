// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include <torch/torch.h>

namespace telltale {

/// What one attention head does, over the queries looked at.
struct HeadStats {
    double entropy = 0; ///< mean over queries of -sum p ln p, nats
    double softmaxMax = 0; ///< mean over queries of max p
    double maxLogit = -std::numeric_limits<double>::infinity(); ///< the largest score before the softmax; NaN is larger
};

/// How much of the attention was looked at.
struct AttentionSample {
    std::vector<HeadStats> heads;
    std::size_t queries = 0; ///< rows per head
    bool isSampled = false; ///< not every row of every sequence
};

/// Entropy, softmax maximum and largest logit per head of softmax(scale * query . key^T), for evenly strided queries of
/// the first sequence, the last one always among them. Holds one row of scores at a time. query is [batch, head,
/// position, dim] or [head, position, dim]; key may have fewer heads (grouped queries) and another length; causal masks
/// align at the end. Any device type but the CPU, or a shape that does not fit, gives no heads. Thread: any; no
/// gradient graph, no random numbers.
AttentionSample attentionStats(
    const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal, std::size_t maxQueries);

}
