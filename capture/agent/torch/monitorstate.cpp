// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/monitorstate.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <telltale/agent/say.h>
#include <telltale/torch/hosttensor.h>
#include <telltale/torch/servedfields.h>
#include <telltale/torch/structure.h>
#include <telltale/torch/visit.h>

namespace telltale {
namespace {

/// Unix time: what the window's time axis stands on.
std::int64_t wallNs()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}

TrainerMon::State::State(Sink& sink, MonitorOptions options)
    : m_sink(sink)
    , m_options(std::move(options))
{
}

void TrainerMon::State::setMonitor(torch::nn::Module& model, torch::optim::Optimizer& optimizer, ModelOptions options)
{
    removeHooks();
    const Visit visit(m_lock, m_cost);
    m_model = options;
    m_model.gradAccSteps = std::max(1, options.gradAccSteps);
    m_optimizer = &optimizer;
    m_step = options.startIteration;
    m_collected = 0;
    for (auto* table : { &m_paramOrigin, &m_paramUpdated, &m_gradUnreduced, &m_gradReduced, &m_expAvg, &m_expAvgSq })
        *table = SeriesTable(table->kind(), {});
    guarded(Kind::Unspecified, [&] {
        m_sink.blob("structure", "model", m_step, structureJson(model));
        if (const auto sentence = unservedSentence(m_options.config); m_options.isOn && !sentence.empty())
            tellAloud(sentence);
        const auto& ranks = m_options.config.moduleRanks;
        if (ranks.empty() || std::find(ranks.begin(), ranks.end(), m_options.rank) != ranks.end())
            watchParameters(model);
    });
    startStep();
}

void TrainerMon::State::watchParameters(torch::nn::Module& model)
{
    const auto& wanted = m_options.config;
    std::set<torch::TensorImpl*> seen;
    for (auto& entry : model.named_parameters()) {
        auto& tensor = entry.value();
        if (!seen.insert(tensor.unsafeGetTensorImpl()).second || !selects(entry.key()))
            continue;
        m_parameters.push_back({ entry.key(), tensor, momentKey(tensor) });
        const auto series = [&](SeriesTable& table, std::uint32_t formBits) {
            table.add(describe(entry.key(), {}, tensor, formBits));
        };
        if (wanted.paramDistribution) {
            series(m_paramOrigin, 0);
            series(m_paramUpdated, 0);
        }
        if (wanted.mvDistribution) {
            series(m_expAvg, 0);
            series(m_expAvgSq, 0);
        }
        if (!wanted.wgDistribution)
            continue;
        series(m_gradReduced, m_model.gradientForm | (m_model.gradAccSteps > 1 ? form::kAccumulated : 0));
        const bool isPerMicro = wanted.monitorMbsGrad && m_model.gradAccSteps > 1;
        for (int micro = 0; micro < (isPerMicro ? m_model.gradAccSteps : 1); ++micro) {
            auto desc = describe(entry.key(), {}, tensor, form::kMicro);
            desc.microStep = isPerMicro ? micro : -1;
            m_gradUnreduced.add(std::move(desc));
        }
        if (!tensor.requires_grad())
            continue;
        auto& parameter = m_parameters.back();
        parameter.hook
            = tensor.register_hook([weak = weak_from_this(), i = m_parameters.size() - 1](torch::Tensor gradient) {
                  if (const auto self = weak.lock(); self && self->m_isCollecting)
                      self->gradientArrived(i, gradient);
              });
        parameter.hasHook = true;
    }
}

void TrainerMon::State::removeHooks()
{
    const std::lock_guard<std::mutex> lock(m_lock);
    for (auto& parameter : m_parameters) {
        if (parameter.hasHook)
            parameter.tensor.remove_hook(parameter.hook);
        parameter.hasHook = false;
    }
    m_parameters.clear();
}

void TrainerMon::State::startStep()
{
    const auto& wanted = m_options.config;
    const auto& ranks = wanted.moduleRanks;
    m_isCollecting = m_options.isOn && wanted.collectsAt(m_step) && m_collected < wanted.collectTimes
        && (ranks.empty() || std::find(ranks.begin(), ranks.end(), m_options.rank) != ranks.end());
    for (auto& parameter : m_parameters)
        parameter.calls = 0;
    m_taps.startStep();
    m_lastCost = std::exchange(m_cost, std::chrono::nanoseconds { 0 });
}

template <typename Pick> void TrainerMon::State::measureParameters(SeriesTable& table, Pick&& pick)
{
    if (table.size() == 0)
        return;
    guarded(table.kind(), [&] {
        m_kernelTable.clear();
        m_copies.clear();
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            auto host = hostTensor(pick(m_parameters[i]));
            if (host.refusal)
                notObserved(table, i, host.refusal);
            m_kernelTable.push_back(host.refusal ? tt_tensor {} : host.table);
            if (host.copy.defined())
                m_copies.push_back(std::move(host.copy));
        }
        tt_stats_compute(m_kernelTable.data(), m_kernelTable.size(), m_options.config.eps, table.results(),
            static_cast<int>(m_options.config.threads));
        m_copies.clear();
    });
}

void TrainerMon::State::beforeStep()
{
    if (!m_isCollecting)
        return;
    const Visit visit(m_lock, m_cost);
    measureParameters(m_paramOrigin, [](const Parameter& p) { return p.tensor; });
    measureParameters(m_gradReduced, [](const Parameter& p) { return p.tensor.grad(); });
    measureParameters(m_expAvg, [this](const Parameter& p) { return momentsOf(*m_optimizer, p.key).first; });
    measureParameters(m_expAvgSq, [this](const Parameter& p) { return momentsOf(*m_optimizer, p.key).second; });
}

void TrainerMon::State::afterStep()
{
    {
        const Visit visit(m_lock, m_cost);
        if (m_isCollecting) {
            measureParameters(m_paramUpdated, [](const Parameter& p) { return p.tensor; });
            if (m_collected++ == 0)
                guarded(Kind::Unspecified, [this] { tellIdleTargets(); });
            if (const char* trouble = tt_stats_trouble())
                guarded(Kind::Unspecified, [this, trouble] { tellAloud(trouble); });
        }
        guarded(Kind::Unspecified, [this] { publish(); });
    }
    const std::lock_guard<std::mutex> lock(m_lock);
    ++m_step;
    startStep();
}

void TrainerMon::State::publish()
{
    const auto all = tables();
    std::uint64_t samples = 0;
    std::uint64_t scalars = 0;
    for (auto* table : all) {
        samples += table->samples();
        scalars += table->scalars();
    }
    if (samples + scalars == 0)
        return;
    setScalar("telltale.wall_ns", static_cast<double>(wallNs()));
    ++scalars;
    for (auto* table : all) {
        if (table->samples() + table->scalars() > 0 && !table->registerNew(m_sink))
            tell("the agent refused a layout of " + std::string(kindName(table->kind())));
    }
    if (m_sink.beginStep(m_step)) {
        for (auto* table : all)
            table->publish(m_sink);
        m_sink.commitStep();
    } else {
        m_sink.dropped(m_step, samples, scalars);
    }
    for (auto* table : all)
        table->clear();
}

std::array<SeriesTable*, 10> TrainerMon::State::tables()
{
    return { &m_paramOrigin, &m_paramUpdated, &m_gradUnreduced, &m_gradReduced, &m_actv, &m_actvGrad, &m_expAvg,
        &m_expAvgSq, &m_attention, &m_scalars };
}

bool TrainerMon::State::selects(std::string_view name)
{
    const auto& targets = m_options.config.targets;
    bool isSelected = targets.empty();
    for (const auto& [target, selection] : targets) {
        if (config::targetMatches(target, name)) {
            m_matched.insert(target);
            isSelected = true;
        }
    }
    return isSelected;
}

void TrainerMon::State::tellIdleTargets()
{
    for (const auto& [target, selection] : m_options.config.targets) {
        if (m_matched.contains(target))
            continue;
        const std::string sentence
            = "the target \"" + target + "\" matches no parameter and no tapped module; nothing is collected for it";
        tellAloud(sentence);
    }
}

void TrainerMon::State::notObserved(const SeriesTable& table, std::size_t series, const char* reason)
{
    const auto& desc = table.series(series);
    std::string name = desc.name;
    if (desc.slot.hasText())
        desc.slot.appendTo(name += ' ');
    tell("not observed: " + std::string(kindName(table.kind())) + " of " + name + ", because " + reason);
}

void TrainerMon::State::tellAloud(const std::string& sentence)
{
    if (tell(sentence))
        agent::say(sentence);
}

bool TrainerMon::State::tell(const std::string& sentence)
{
    const bool isNew = m_reported.insert(sentence).second;
    if (isNew)
        m_sink.event("log", m_step, sentence, "{}");
    return isNew;
}

}
