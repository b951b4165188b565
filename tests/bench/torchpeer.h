// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace telltale::bench {

/// What the same statistics cost through torch's own ops, on one thread. The tensors wrap the caller's memory.
class TorchPeer {
public:
    explicit TorchPeer(const std::vector<std::vector<float>>& tensors);
    ~TorchPeer();
    TorchPeer(const TorchPeer&) = delete;
    TorchPeer& operator=(const TorchPeer&) = delete;

    /// norm, mean, min, max, isnan().sum(), (abs < eps).sum() / numel, each with its item().
    void sixOps();
    /// torch._foreach_norm alone.
    void foreachNorm();

private:
    struct State;
    State* m_state;
};

}
