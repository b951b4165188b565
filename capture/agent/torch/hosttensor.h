// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <torch/torch.h>

#include <telltale/core/samplebatch.h>
#include <telltale/stats/stats.h>

namespace telltale {

/// A tensor's elements as the statistics kernel reads them, in storage order (no statistic depends on the order).
/// Never touches the device, the gradient graph or the tensor itself. Thread: any; keep it while `table` is in use.
struct HostTensor {
    tt_tensor table {}; ///< numel 0 when there is nothing to measure
    torch::Tensor copy; ///< holds the elements when the tensor's own storage has gaps or repeats
    const char* refusal = nullptr; ///< why the tensor cannot be observed, a clause; nullptr = it can
};

/// An undefined or empty tensor has nothing to measure and is no refusal.
HostTensor hostTensor(const torch::Tensor& tensor);
/// DType::Unknown for types without a definition of our statistics (complex, quantised).
DType dtypeOf(const torch::Tensor& tensor);
/// Name, slot, shape, dtype and size of a series that measures `tensor`.
SeriesDesc describe(std::string name, Slot slot, const torch::Tensor& tensor, std::uint32_t formBits);

}
