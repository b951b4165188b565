// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/monitorstate.h>

#include <limits>
#include <utility>

#include <telltale/torch/hosttensor.h>
#include <telltale/torch/visit.h>

namespace telltale {

void TrainerMon::State::measure(const torch::Tensor& tensor, SeriesTable& table, std::size_t series)
{
    const auto host = hostTensor(tensor);
    if (host.refusal)
        notObserved(table, series, host.refusal);
    else
        tt_stats_bins(&host.table, 1, m_options.config.eps, table.results() + series, table.bins(series),
            static_cast<int>(m_options.config.threads));
}

void TrainerMon::State::gradientArrived(std::size_t parameter, const torch::Tensor& gradient)
{
    if (!isMeasured(Kind::GradUnreduced))
        return;
    const Visit visit(m_lock, m_cost);
    guarded(Kind::GradUnreduced, [&] {
        const int call = m_parameters[parameter].calls++;
        const auto micros = m_gradUnreduced.size() / m_parameters.size();
        if (micros > 1) {
            if (static_cast<std::size_t>(call) < micros)
                measure(gradient, m_gradUnreduced, parameter * micros + static_cast<std::size_t>(call));
        } else if (call >= m_model.gradAccSteps - 1) {
            measure(gradient, m_gradUnreduced, parameter);
        }
    });
}

void TrainerMon::State::tap(std::string_view name, const torch::Tensor& tensor, const Slot& slot)
{
    if (!m_isCollecting || !m_wanted.xyDistribution || !isMeasured(Kind::Actv) || !torch::GradMode::is_enabled())
        return;
    const Visit visit(m_lock, m_cost);
    guarded(Kind::Actv, [&] {
        bool isNew = false;
        const auto number = m_taps.find(name, slot, isNew);
        auto& point = m_taps[number];
        if (isNew)
            choose(point);
        if (!point.wantsValue && !point.wantsGradient)
            return;
        const auto call = point.calls++;
        if (call >= static_cast<std::size_t>(m_model.gradAccSteps)) {
            tell(point.name + " is tapped more often in a step than there are micro steps; the first ones are kept");
            return;
        }
        const std::uint32_t side = slot.role == Role::Input ? form::kInputSide : 0;
        if (point.wantsValue)
            measure(tensor, m_actv, tapSeries(m_actv, point.values, point, call, tensor, side));
        if (!point.wantsGradient || !tensor.defined() || !tensor.requires_grad())
            return;
        tapSeries(m_actvGrad, point.gradients, point, call, tensor, side | form::kTotal);
        tensor.register_hook([weak = weak_from_this(), number, call, step = m_step](torch::Tensor gradient) {
            if (const auto self = weak.lock())
                self->tapGradientArrived(number, call, step, gradient);
        });
    });
}

void TrainerMon::State::choose(TapPoint& point)
{
    const auto& wanted = m_wanted;
    const bool isSelected = selects(point.name) || wanted.allXy;
    const auto own = wanted.targets.find(point.name);
    const std::string_view selection = own == wanted.targets.end() ? std::string_view {} : own->second;
    point.wantsValue = isSelected && !wanted.backwardOnly && config::selectsSlot(selection, point.slot, false);
    point.wantsGradient = isSelected && !wanted.forwardOnly && config::selectsSlot(selection, point.slot, true);
}

std::size_t TrainerMon::State::tapSeries(SeriesTable& table, std::vector<std::size_t>& known, const TapPoint& point,
    std::size_t call, const torch::Tensor& tensor, std::uint32_t formBits)
{
    if (known.size() <= call)
        known.resize(call + 1, TapPoint::kNoSeries);
    if (known[call] == TapPoint::kNoSeries) {
        auto desc = describe(point.name, point.slot, tensor, formBits);
        desc.microStep = microStep(call);
        if ((formBits & form::kTotal) != 0 && (formBits & form::kInputSide) != 0)
            desc.definition = "total over all consumers"; // a tap cannot tell what flows through one module alone
        known[call] = table.add(std::move(desc));
    }
    return known[call];
}

void TrainerMon::State::tapGradientArrived(
    std::size_t point, std::size_t call, std::int64_t step, const torch::Tensor& gradient)
{
    if (!m_isCollecting || step != m_step)
        return;
    const Visit visit(m_lock, m_cost);
    guarded(Kind::ActvGrad, [&] { measure(gradient, m_actvGrad, m_taps[point].gradients[call]); });
}

void TrainerMon::State::attention(
    std::string_view name, const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal)
{
    if (!m_isCollecting || (!m_wanted.attentionHook && !m_maps) || !isMeasured(Kind::Attention)
        || !torch::GradMode::is_enabled())
        return;
    const Visit visit(m_lock, m_cost);
    guarded(Kind::Attention, [&] {
        bool isNew = false;
        auto& point = m_taps[m_taps.find(name, Slot::named("attention"), isNew)];
        if (isNew)
            point.wantsValue = (m_wanted.attentionHook && selects(name)) || (m_maps && m_maps->headsOf(point.name));
        if (!point.wantsValue)
            return;
        const auto call = point.calls++;
        if (call >= static_cast<std::size_t>(m_model.gradAccSteps))
            return;
        if (call == 0 && m_maps && m_isSent && m_maps->areDue(m_step))
            mapAttention(point.name, query, key, scale, causal);
        const auto wanted = m_options.config.attentionQueries;
        const auto maxQueries = wanted > 0 ? wanted : std::numeric_limits<std::int64_t>::max();
        const auto sample = attentionStats(query, key, scale, causal, static_cast<std::size_t>(maxQueries));
        const auto heads = sample.heads.size();
        if (heads == 0) {
            tell("not observed: attention of " + point.name + ", because its queries and keys do not fit together");
            return;
        }
        // One run of series for each micro step, head by head: `values` holds where it starts, `gradients` how long it
        // is.
        if (point.values.size() <= call) {
            point.values.resize(call + 1, TapPoint::kNoSeries);
            point.gradients.resize(call + 1);
        }
        if (point.values[call] == TapPoint::kNoSeries) {
            point.values[call] = m_attention.size();
            point.gradients[call] = heads;
            addHeads(point.name, call, sample, query, key);
        }
        if (point.gradients[call] != heads) {
            tell("not observed: attention of " + point.name + ", because its number of heads has changed");
            return;
        }
        for (std::size_t head = 0; head < heads; ++head) {
            m_attention.set(point.values[call] + head, 0, sample.heads[head].entropy);
            m_attention.set(point.values[call] + head, 1, sample.heads[head].softmaxMax);
            m_attention.set(point.values[call] + head, 2, sample.heads[head].maxLogit);
        }
    });
}

void TrainerMon::State::mapAttention(
    const std::string& name, const torch::Tensor& query, const torch::Tensor& key, double scale, bool causal)
{
    const auto heads = m_maps->headsOf(name);
    if (!heads)
        return;
    if (const auto why = m_maps->add(name, query, key, scale, causal, *heads); !why.empty())
        tell(why);
}

void TrainerMon::State::addHeads(const std::string& name, std::size_t call, const AttentionSample& sample,
    const torch::Tensor& query, const torch::Tensor& key)
{
    for (std::size_t head = 0; head < sample.heads.size(); ++head) {
        SeriesDesc desc;
        desc.name = name;
        desc.slot = Slot::ofHead(static_cast<int>(head));
        desc.microStep = microStep(call);
        desc.form = sample.isSampled ? form::kSampled : 0;
        desc.definition = "mean over queries";
        desc.dtype = dtypeOf(query);
        desc.shape = { query.size(-3), key.size(-3), query.size(-2), key.size(-2) };
        desc.numel = sample.queries;
        m_attention.add(std::move(desc));
    }
}

void TrainerMon::State::log(std::string_view name, double value)
{
    const Visit visit(m_lock, m_cost);
    guarded(Kind::Scalar, [&] { setScalar(name, value); });
}

void TrainerMon::State::setScalar(std::string_view name, double value)
{
    m_scalarName.assign(name);
    auto found = m_scalarNumbers.find(m_scalarName);
    if (found == m_scalarNumbers.end()) {
        SeriesDesc desc;
        desc.name = m_scalarName;
        desc.dtype = DType::F64;
        desc.numel = 1;
        found = m_scalarNumbers.emplace(m_scalarName, m_scalars.add(std::move(desc))).first;
    }
    m_scalars.set(found->second, 0, value);
}

}
