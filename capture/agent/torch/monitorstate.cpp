// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/monitorstate.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>
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
    , m_keeper(sink, { m_options.config, m_options.configText }, m_options.isOn ? m_options.configPath : std::string(),
          m_options.rank)
{
}

void TrainerMon::State::setMonitor(torch::nn::Module& model, torch::optim::Optimizer& optimizer, ModelOptions options)
{
    removeHooks();
    const Visit visit(m_lock, m_cost);
    m_model = options;
    m_boundary = {};
    m_model.gradAccSteps = std::max(1, options.gradAccSteps);
    m_optimizer = &optimizer;
    m_step = options.startIteration;
    if (m_keeper.isSwitched()) {
        m_isSwitchedOn = m_options.config.dynamicOn;
        m_options.config.startStep = m_step + 1; // as documented for DYNAMIC_MONITOR
    }
    guarded(Kind::Unspecified, [&] {
        m_sink.blob("structure", "model", m_step, structureJson(model));
        tellUnserved();
        m_named.clear();
        std::set<torch::TensorImpl*> seen;
        for (auto& entry : model.named_parameters())
            if (seen.insert(entry.value().unsafeGetTensorImpl()).second)
                m_named.emplace_back(entry.key(), entry.value());
        watchParameters();
        m_keeper.begin(m_step, m_options.isOn && m_isSwitchedOn);
    });
    renewBudget();
    startStep();
}

void TrainerMon::State::tellUnserved()
{
    if (const auto sentence = unservedSentence(m_options.config); m_options.isOn && !sentence.empty())
        tellAloud(sentence);
}

bool TrainerMon::State::isOfThisRank() const
{
    const auto& ranks = m_options.config.moduleRanks;
    return ranks.empty() || std::find(ranks.begin(), ranks.end(), m_options.rank) != ranks.end();
}

void TrainerMon::State::planRecorder()
{
    auto plan = FlightRecorder::planFor(m_options.config, isOfThisRank());
    m_wanted = std::move(plan.wanted);
    if (!plan.kept.empty())
        m_recorder.emplace(m_wanted.flightRecorder, std::move(plan.kept));
    else if (m_wanted.flightRecorder > 0)
        tellAloud("flight_recorder: the config sends all that it would keep; nothing is kept");
}

void TrainerMon::State::watchParameters()
{
    static_cast<Watched&>(*this) = {};
    planRecorder();
    if (!m_options.config.attentionMaps.empty() && isOfThisRank())
        m_maps.emplace(m_options.config, m_step);
    const auto& wanted = m_wanted;
    const auto& binned = m_options.config.histogram;
    for (SeriesTable* table : tables())
        table->setBinned(std::find(binned.begin(), binned.end(), kindName(table->kind())) != binned.end());
    if (!isOfThisRank() && !m_recorder)
        return;
    for (auto& [name, tensor] : m_named) {
        if (!selects(name))
            continue;
        m_parameters.push_back({ name, tensor, momentKey(tensor) });
        const auto series = [&name = name, &tensor = tensor](SeriesTable& table, std::uint32_t formBits) {
            table.add(describe(name, {}, tensor, formBits));
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
            auto desc = describe(name, {}, tensor, form::kMicro);
            desc.microStep = isPerMicro ? micro : -1;
            m_gradUnreduced.add(std::move(desc));
        }
    }
}

/// While nothing is collected no tensor has a hook of ours.
void TrainerMon::State::hook()
{
    m_isHooked = true;
    if (!m_wanted.wgDistribution)
        return;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        auto& parameter = m_parameters[i];
        if (!parameter.tensor.requires_grad())
            continue;
        parameter.hook = parameter.tensor.register_hook([weak = weak_from_this(), i](torch::Tensor gradient) {
            if (const auto self = weak.lock(); self && self->m_isCollecting)
                self->gradientArrived(i, gradient);
        });
        parameter.hasHook = true;
    }
}

void TrainerMon::State::unhook(std::vector<Parameter>& parameters)
{
    for (auto& parameter : parameters) {
        if (!std::exchange(parameter.hasHook, false))
            continue;
        parameter.tensor.remove_hook(parameter.hook);
        // LibTorch keeps the place of a hook that is gone: another one at every change would take more and more.
        auto& hooks = *torch::autograd::impl::materialize_autograd_meta(parameter.tensor)->cpp_hooks_list_;
        while (!hooks.empty() && !hooks.back())
            hooks.pop_back();
    }
    m_isHooked = false;
}

void TrainerMon::State::removeHooks()
{
    const std::lock_guard<std::mutex> lock(m_lock);
    guarded(Kind::Unspecified, [this] {
        if (!m_recorder)
            return;
        if (std::uncaught_exceptions() > 0)
            m_recorder->trip("the training ended with an error");
        m_recorder->finish(m_sink, tables());
    });
    unhook(m_parameters);
    m_parameters.clear();
}

void TrainerMon::State::steer()
{
    while (const auto change = m_keeper.next(m_step, collection())) {
        const std::string why = put(*change);
        if (why.empty())
            m_keeper.taken(*change, m_step);
        else
            m_keeper.refused(*change, m_step, why);
    }
    if (m_keeper.hasEnded(m_step, collection()) && m_keeper.isSwitched())
        m_isSwitchedOn = false;
}

std::string TrainerMon::State::put(const ConfigKeeper::Change& change)
{
    if (change.isSwitchAlone) {
        m_isSwitchedOn = change.config.dynamicOn;
        m_collected = 0;
        return {};
    }
    // What runs is laid aside, hooks and all; what is made beside it takes its place whole, or goes away again.
    auto config = change.config;
    Watched aside;
    const auto exchange = [&] {
        std::swap<Watched>(*this, aside);
        std::swap(m_options.config, config);
    };
    exchange();
    try {
        watchParameters();
    } catch (const std::exception& error) {
        exchange();
        const std::string_view why = error.what();
        return std::string(why.substr(0, why.find('\n')));
    }
    guarded(Kind::Unspecified, [&] {
        if (aside.m_recorder)
            aside.m_recorder->letGo(m_sink, aside.tables(m_scalars));
        unhook(aside.m_parameters);
    });
    m_isSwitchedOn = change.config.dynamicOn;
    if (change.rev == 0) {
        if (!m_sink.isSteered()) // else it counts as on the ranks that get it by the dashboard
            m_options.config.startStep = m_step; // as documented for DYNAMIC_MONITOR
        m_sink.event("config", m_step, "the changed config is in force from this step", "{}");
        m_sink.blob("config", "config.json", m_step, change.text);
    }
    renewBudget();
    tellUnserved();
    return {};
}

void TrainerMon::State::startStep()
{
    const bool isWanted = m_options.isOn && m_isSwitchedOn && m_collected < m_options.config.collectTimes;
    const bool isHookWanted = isWanted && (isOfThisRank() || m_recorder);
    if (isHookWanted != m_isHooked)
        guarded(Kind::Unspecified, [&] { isHookWanted ? hook() : unhook(m_parameters); });
    const auto& config = m_options.config;
    m_isSent = isWanted && isOfThisRank() && config.collectsAt(m_step)
        && admits(m_recorder ? m_step / config.stepInterval : m_step);
    m_isKept = isWanted && m_recorder && admits(m_step);
    m_isCollecting = m_isSent || m_isKept;
    if (m_isCollecting) {
        for (auto& parameter : m_parameters)
            parameter.calls = 0;
        m_taps.startStep();
    }
}

template <typename Pick> void TrainerMon::State::measureParameters(SeriesTable& table, Pick&& pick)
{
    if (table.size() == 0 || !isMeasured(table.kind()))
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
        tt_stats_bins(m_kernelTable.data(), m_kernelTable.size(), m_options.config.eps, table.results(), table.bins(0),
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
            m_collected += m_isSent ? 1 : 0;
            if (m_measured++ == 0)
                guarded(Kind::Unspecified, [this] { tellIdleTargets(); });
            if (const char* trouble = tt_stats_trouble())
                guarded(Kind::Unspecified, [this, trouble] { tellAloud(trouble); });
        }
        guarded(Kind::Unspecified, [this] { publish(); });
        if (m_maps) {
            for (const auto& [name, document] : m_maps->take(m_step))
                m_sink.blob("attention_map", name.c_str(), m_step, document);
        }
    }
    const std::lock_guard<std::mutex> lock(m_lock);
    const auto since = Visit::Clock::now();
    if (m_recorder)
        guarded(Kind::Unspecified, [this] { m_recorder->stepEnds(m_step, m_sink, tables()); });
    guarded(Kind::Unspecified, [&] { heedBudget(since); });
    ++m_step;
    guarded(Kind::Unspecified, [this] { steer(); });
    startStep();
    endStep(since);
}

void TrainerMon::State::heedBudget(Visit::Clock::time_point since)
{
    if (!m_budget)
        return;
    const auto now = Visit::Clock::now();
    const auto elapsed = m_boundary == Visit::Clock::time_point {} ? std::chrono::nanoseconds { 0 } : now - m_boundary;
    const auto before = m_budget->every();
    // Where most steps are measured for the flight recorder alone, what the others take counts with them.
    auto cost = m_cost + (now - since);
    const auto interval = m_options.config.stepInterval;
    if (m_recorder && m_isSent && interval > 1)
        m_rare = cost / interval;
    else if (m_isCollecting)
        cost += m_rare;
    const auto news = m_budget->stepEnded(m_isCollecting, cost, elapsed);
    if (m_budget->every() != before)
        m_sink.thinning(m_budget->every(), m_options.config.overheadBudget);
    if (news) {
        agent::say(news->sentence);
        m_sink.event("log", m_step, news->sentence, news->json);
    }
}

void TrainerMon::State::renewBudget()
{
    if (m_budget && m_budget->stride() > 1) {
        const char* sentence
            = "what monitoring takes is measured anew, and every step that the config selects is collected";
        agent::say(sentence);
        m_sink.event("log", m_step, sentence, "{}");
        m_sink.thinning(0, 0);
    }
    m_budget.reset();
    m_rare = {};
    if (const auto& wanted = m_options.config; wanted.overheadBudget > 0)
        m_budget.emplace(wanted.overheadBudget, m_recorder ? 1 : wanted.stepInterval);
}

/// Here one step ends and the next begins. since: of what this visit has not counted yet.
void TrainerMon::State::endStep(Visit::Clock::time_point since)
{
    const auto now = Visit::Clock::now();
    m_lastCost = std::exchange(m_cost, std::chrono::nanoseconds { 0 }) + (now - since);
    if (const auto began = std::exchange(m_boundary, now); began != Visit::Clock::time_point {})
        m_sink.cost(m_lastCost, now - began);
}

void TrainerMon::State::publish()
{
    // What is not collected has nothing, and may have many series.
    const auto every = tables();
    std::span<SeriesTable* const> all(m_isCollecting ? every.data() : &every.back(), m_isCollecting ? every.size() : 1);
    std::vector<SeriesTable*> sent;
    if (m_recorder) {
        m_recorder->take(m_step, all);
        for (auto* table : all) {
            if (!m_recorder->keeps(table->kind()))
                sent.push_back(table);
            else
                table->clear();
        }
        all = sent;
    }
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
