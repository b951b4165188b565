// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/hosttensor.h>

#include <utility>

namespace telltale {

DType dtypeOf(const torch::Tensor& tensor)
{
    if (!tensor.defined())
        return DType::Unknown;
    switch (tensor.scalar_type()) {
    case torch::kFloat32:
        return DType::F32;
    case torch::kFloat64:
        return DType::F64;
    case torch::kFloat16:
        return DType::F16;
    case torch::kBFloat16:
        return DType::BF16;
    case torch::kInt8:
        return DType::I8;
    case torch::kUInt8:
        return DType::U8;
    case torch::kInt16:
        return DType::I16;
    case torch::kInt32:
        return DType::I32;
    case torch::kInt64:
        return DType::I64;
    case torch::kBool:
        return DType::Bool;
    default:
        return DType::Unknown;
    }
}

HostTensor hostTensor(const torch::Tensor& tensor)
{
    HostTensor out;
    if (!tensor.defined())
        return out;
    if (tensor.layout() != torch::kStrided)
        out.refusal = "it is not a dense tensor";
    else if (!tensor.device().is_cpu())
        out.refusal = "it is on a device that only the Python agent reads";
    else if (dtypeOf(tensor) == DType::Unknown)
        out.refusal = "its element type has no statistics";
    else if (tensor.is_conj() || tensor.is_neg())
        out.refusal = "it is a lazy conjugate or negation";
    if (out.refusal || tensor.numel() == 0)
        return out;

    torch::Tensor readable = tensor;
    if (!tensor.unsafeGetTensorImpl()->is_non_overlapping_and_dense()) {
        torch::NoGradGuard noGrad;
        out.copy = tensor.contiguous();
        readable = out.copy;
    }
    out.table.data = readable.data_ptr();
    if (!out.table.data) {
        out.refusal = "its storage has been freed";
        return out;
    }
    out.table.numel = static_cast<std::uint64_t>(readable.numel());
    out.table.dtype = static_cast<std::uint32_t>(dtypeOf(readable));
    return out;
}

SeriesDesc describe(std::string name, Slot slot, const torch::Tensor& tensor, std::uint32_t formBits)
{
    SeriesDesc desc;
    desc.name = std::move(name);
    desc.slot = std::move(slot);
    desc.form = formBits;
    desc.dtype = dtypeOf(tensor);
    if (tensor.defined()) {
        desc.shape = tensor.sizes().vec();
        desc.numel = static_cast<std::uint64_t>(tensor.numel());
    }
    return desc;
}

}
