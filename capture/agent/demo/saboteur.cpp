// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/saboteur.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace telltale::demo {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t kTopExponentBit = 1u << 30;
constexpr std::uint32_t kBit26 = 1u << 26;

torch::Tensor withOne(const torch::Tensor& value, float element)
{
    auto addend = torch::zeros_like(value);
    addend.view(-1)[0] = element;
    return value + addend;
}

void flip(float& value, std::uint32_t bit)
{
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ bit);
}

/// The exponent's top bit of one element: below 1 it becomes 2^128 times as large. A negative one, since GELU sends
/// that to 0 again: what follows is bounded, as most flipped bits are that a job survives.
torch::Tensor withFlippedExponent(const torch::Tensor& value)
{
    auto out = value.clone();
    const auto flat = out.detach().view(-1);
    auto* data = flat.data_ptr<float>();
    std::int64_t chosen = 0;
    while (chosen < flat.numel() && !(data[chosen] > -1 && data[chosen] < 0))
        ++chosen;
    flip(data[chosen < flat.numel() ? chosen : 0], kTopExponentBit);
    return out;
}

/// Bit 26 of the smallest weight that has it, which becomes 256 times smaller: no norm shows that.
void flipWeight(const torch::Tensor& weight)
{
    auto* data = weight.data_ptr<float>();
    float* chosen = nullptr;
    for (std::int64_t i = 0; i < weight.numel(); ++i) {
        const bool hasBit = (std::bit_cast<std::uint32_t>(data[i]) & kBit26) != 0;
        if (hasBit && (!chosen || std::abs(data[i]) < std::abs(*chosen)))
            chosen = data + i;
    }
    if (chosen)
        flip(*chosen, kBit26);
}

bool isWithin(const std::string& parameter, const std::string& module)
{
    return parameter.starts_with(module + ".");
}

bool fits(FaultFits wanted, const std::string& name, const torch::nn::Module& module)
{
    switch (wanted) {
    case FaultFits::Attention:
        return name.ends_with(".attn");
    case FaultFits::Parameters:
        return !module.parameters().empty();
    case FaultFits::Matrix: {
        const auto own = module.named_parameters(false);
        const auto* weight = own.find("weight");
        return weight && weight->dim() > 1;
    }
    default:
        // A list of layers and a dropout have no output of their own.
        return name != "layers" && !name.ends_with("drop");
    }
}

Expected<std::string> moduleFor(const Fault& fault, const torch::nn::Module& model)
{
    const FaultFacts& facts = factsOf(fault.kind);
    std::vector<std::string> usual;
    std::string known;
    for (const auto& entry : model.named_modules({}, false)) {
        const auto& name = entry.key();
        if (!fits(facts.fits, name, *entry.value()))
            continue;
        if (name == fault.module)
            return name;
        if (name.ends_with(facts.usual))
            usual.push_back(name);
        known += (known.empty() ? "" : ", ") + name;
    }
    if (fault.module.empty())
        return usual[usual.size() / 2];
    return failure(ErrorCode::BadInput,
        "--fault names the module \"" + fault.module + "\", which cannot have this fault", "choose one of " + known);
}

}

Saboteur::Saboteur(Fault fault)
    : m_fault(std::move(fault))
    , m_step(std::make_shared<std::int64_t>(-1))
{
}

Expected<Saboteur> Saboteur::hired(Fault fault, torch::nn::Module& model, int rank, int world)
{
    const FaultFacts& facts = factsOf(fault.kind);
    if (fault.rank && *fault.rank >= world) {
        const std::string there
            = world == 1 ? "there is only rank 0" : "there are ranks 0 to " + std::to_string(world - 1);
        return failure(ErrorCode::BadInput, "--fault names rank " + std::to_string(*fault.rank), there);
    }
    if (facts.where != FaultWhere::Training) {
        auto module = moduleFor(fault, model);
        if (!module)
            return tl::unexpected<Error>(std::move(module.error()));
        fault.module = *std::move(module);
    }
    if (fault.rank.value_or(rank) != rank)
        fault = {};
    Saboteur saboteur(std::move(fault));
    if (saboteur.m_fault.kind != FaultKind::GradSpike)
        return saboteur;
    for (auto& entry : model.named_parameters()) {
        if (!isWithin(entry.key(), saboteur.m_fault.module))
            continue;
        entry.value().register_hook([own = saboteur](const torch::Tensor& gradient) {
            return own.strikes(FaultKind::GradSpike) ? gradient * factsOf(FaultKind::GradSpike).strength : gradient;
        });
    }
    return saboteur;
}

void Saboteur::begin(std::int64_t step, torch::nn::Module& model, torch::optim::Optimizer& optimizer)
{
    *m_step = step;
    if (strikes(FaultKind::ResetMoments))
        optimizer.state().clear();
    if (m_fault.strikes(m_fault.kind, step) && factsOf(m_fault.kind).where == FaultWhere::Weights)
        spoilWeights(model);
    if (!strikes(FaultKind::Freeze) || step != m_fault.step)
        return;
    for (auto& entry : model.named_parameters()) {
        if (!isWithin(entry.key(), m_fault.module))
            continue;
        entry.value().requires_grad_(false);
        entry.value().mutable_grad().reset();
    }
}

void Saboteur::spoilWeights(torch::nn::Module& model) const
{
    torch::NoGradGuard noGrad;
    const bool isGrowth = m_fault.kind == FaultKind::QueryGrowth;
    auto parameters = model.named_parameters();
    auto& weight = parameters[m_fault.module + (isGrowth ? ".qkv.weight" : ".weight")];
    if (isGrowth)
        weight.slice(0, 0, weight.size(0) / 3).mul_(factsOf(m_fault.kind).strength);
    else if (m_fault.kind == FaultKind::FlipWeight)
        flipWeight(weight);
    else
        weight.view(-1)[0] = kNan;
}

torch::Tensor Saboteur::batch(torch::Tensor ids) const
{
    return strikes(FaultKind::RepeatedToken) ? torch::full_like(ids, ids[0][0].item<std::int64_t>()) : ids;
}

torch::Tensor Saboteur::output(const std::string& module, torch::Tensor value) const
{
    if (module != m_fault.module || !m_fault.strikes(m_fault.kind, *m_step))
        return value;
    switch (m_fault.kind) {
    case FaultKind::Nan:
        return withOne(value, kNan);
    case FaultKind::Inf:
        return withOne(value, std::numeric_limits<float>::infinity());
    case FaultKind::Spike:
        return value * factsOf(m_fault.kind).strength;
    case FaultKind::Zero:
        return value * 0.0;
    case FaultKind::FlipOutput:
        return withFlippedExponent(value);
    case FaultKind::NanBackward:
        value.register_hook([](const torch::Tensor& gradient) { return withOne(gradient, kNan); });
        return value.view_as(value); // whose own gradient is still whole
    default:
        return value;
    }
}

}
