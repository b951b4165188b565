// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/costestimate.h>

#include <algorithm>

#include <telltale/config/stride.h>

namespace telltale::config {
namespace {

constexpr double kPassSamples = 6;

/// A kind, the field that brings it, and whether its series are of parameters or of modules.
struct KindRule {
    Kind kind;
    bool MonitorConfig::*field;
    bool isOfParameters;
};
constexpr KindRule kKindRules[] = {
    { Kind::ParamOrigin, &MonitorConfig::paramDistribution, true },
    { Kind::ParamUpdated, &MonitorConfig::paramDistribution, true },
    { Kind::GradUnreduced, &MonitorConfig::wgDistribution, true },
    { Kind::GradReduced, &MonitorConfig::wgDistribution, true },
    { Kind::ExpAvg, &MonitorConfig::mvDistribution, true },
    { Kind::ExpAvgSq, &MonitorConfig::mvDistribution, true },
    { Kind::Actv, &MonitorConfig::xyDistribution, false },
    { Kind::ActvGrad, &MonitorConfig::xyDistribution, false },
    { Kind::MgDirection, &MonitorConfig::mgDirection, true },
    { Kind::Update, &MonitorConfig::urDistribution, true },
    { Kind::UpdateRatio, &MonitorConfig::urDistribution, true },
    { Kind::Attention, &MonitorConfig::attentionHook, false },
};

/// Of one rank at a step that is collected.
struct Load : RunFacts::Seen {
    bool isWhole = true;
    bool areElementsKnown = true;

    void add(const RunFacts::Seen& more)
    {
        series += more.series;
        samples += more.samples;
        elements += more.elements;
    }
};

bool asksFor(const MonitorConfig& config, const KindRule& rule)
{
    const bool isOtherWay
        = (rule.kind == Kind::Actv && config.backwardOnly) || (rule.kind == Kind::ActvGrad && config.forwardOnly);
    return config.*rule.field && !isOtherWay;
}

bool selects(const MonitorConfig& config, const KindRule& rule, std::string_view name)
{
    const bool isActivation = rule.kind == Kind::Actv || rule.kind == Kind::ActvGrad;
    return config.targets.empty() || (isActivation && config.allXy)
        || std::any_of(config.targets.begin(), config.targets.end(),
            [&](const auto& target) { return targetMatches(target.first, name); });
}

RunFacts::Seen averageOf(const std::map<std::string, RunFacts::Seen, std::less<>>& seen)
{
    Load sum;
    for (const auto& [name, one] : seen)
        sum.add(one);
    const auto count = static_cast<double>(seen.size());
    return { sum.series / count, sum.samples / count, sum.elements / count };
}

void addKind(
    Load& load, const KindRule& rule, const MonitorConfig& config, const MonitorConfig& running, const RunFacts& run)
{
    const auto kind = run.seen.find(rule.kind);
    const bool isSeen = kind != run.seen.end() && !kind->second.empty();
    const RunFacts::Seen usual = isSeen ? averageOf(kind->second) : RunFacts::Seen {};
    // Activations of compiled code, attention that nobody calls: asked for now, and there are none.
    if (!rule.isOfParameters && !isSeen && !run.seen.empty() && asksFor(running, rule))
        return;
    for (const RunFacts::Module& module : run.modules) {
        if (module.type.empty() != rule.isOfParameters || !selects(config, rule, module.name))
            continue;
        if (isSeen) {
            const auto known = kind->second.find(module.name);
            if (known != kind->second.end())
                load.add(known->second);
            else if (!asksFor(running, rule) || !selects(running, rule, module.name))
                load.add(usual); // else it is asked for now and has none
        } else if (rule.isOfParameters) {
            load.add({ 1, kPassSamples, module.elements });
        } else {
            load.isWhole = load.areElementsKnown = false; // how much passes there nobody has seen
        }
    }
}

/// What has no rule of its own comes as it was seen; where it `isAsked` for now and was not, there is none.
void addSeen(Load& load, const RunFacts& run, Kind kind, bool isAsked)
{
    const auto seen = run.seen.find(kind);
    if (seen != run.seen.end()) {
        for (const auto& [name, one] : seen->second)
            load.add(one);
    } else if (!isAsked || run.seen.empty()) {
        load.isWhole = load.areElementsKnown = false;
    }
}

Load loadOf(const MonitorConfig& config, const MonitorConfig& running, const RunFacts& run)
{
    Load load;
    if (config.collectTimes <= 0 || (!config.dynamicOn && running.dynamicOn))
        return load;
    for (const KindRule& rule : kKindRules) {
        if (asksFor(config, rule))
            addKind(load, rule, config, running, run);
    }
    if (config.ccEnable)
        addSeen(load, run, Kind::Comm, running.ccEnable);
    if (config.recordingL2Features) {
        for (const auto& [hook, names] : config.l2Targets)
            addSeen(load, run,
                hook == "linear_hook"          ? Kind::Linear
                    : hook == "attention_hook" ? Kind::Attention
                                               : Kind::Router,
                running.recordingL2Features && running.l2Targets.contains(hook));
    }
    return load;
}

double ranksOf(const MonitorConfig& config, const RunFacts& run)
{
    if (config.moduleRanks.empty() || run.ranks.empty())
        return static_cast<double>(std::max<std::size_t>(1, run.ranks.size()));
    return static_cast<double>(std::count_if(config.moduleRanks.begin(), config.moduleRanks.end(),
        [&](int rank) { return std::binary_search(run.ranks.begin(), run.ranks.end(), rank); }));
}

}

std::optional<CostEstimate> estimateCost(
    const MonitorConfig& draft, const MonitorConfig& running, const RunFacts& run, const RunRates& rates)
{
    if (run.modules.empty())
        return {};
    const Load wanted = loadOf(draft, running, run);
    const Load now = loadOf(running, running, run);
    const double ranks = ranksOf(draft, run);
    CostEstimate out;
    out.series = wanted.series * ranks;
    out.samples = wanted.samples * ranks;
    out.isWhole = wanted.isWhole;
    const auto every = static_cast<double>(std::max<std::int64_t>(1, draft.stepInterval));
    if (rates.stepMs <= 0)
        return out;
    const double stepsPerSecond = 1000 / rates.stepMs;
    if (rates.bytesPerSample > 0)
        out.bytesPerSecond = out.samples / every * stepsPerSecond * rates.bytesPerSample;
    // What was measured says something only while what runs is really collected.
    const bool isKnown = running.dynamicOn && wanted.areElementsKnown && now.areElementsKnown && now.elements > 0;
    if (!isKnown)
        return out;
    const auto everyNow = static_cast<double>(std::max<std::int64_t>(1, std::max(running.stepInterval, rates.every)));
    const auto added = [&](double stride) {
        return rates.monitorMs * (wanted.elements / (every * stride) / (now.elements / everyNow) - 1);
    };
    out.addedMs = added(1);
    if (running.overheadBudget > 0) {
        const StepCosts costs { (rates.monitorMs + added(1)) * every, 0,
            std::max(rates.stepMs - rates.monitorMs, 1e-6) };
        const auto stride = strideWithin(running.overheadBudget / 100, costs, draft.stepInterval);
        if (stride > 1) {
            out.everyWithin = stride * std::max<std::int64_t>(1, draft.stepInterval);
            out.addedMs = added(static_cast<double>(stride));
            if (out.bytesPerSecond)
                *out.bytesPerSecond /= static_cast<double>(stride);
        }
    }
    out.addedShare = *out.addedMs / rates.stepMs;
    return out;
}

}
