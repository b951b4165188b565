// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/watch.h>

#include <nlohmann/json.hpp>

#include <telltale/agent/say.h>
#include <telltale/core/nothrow.h>
#include <telltale/torch/agentsetup.h>
#include <telltale/torch/agentsink.h>
#include <telltale/torch/configfile.h>
#include <telltale/torch/environment.h>

namespace telltale {
namespace {

/// Takes nothing: what a training has whose agent cannot be opened. Thread: training.
class NullSink final : public Sink {
public:
    std::uint32_t addLayout(Kind, std::span<const Stat>, std::span<const SeriesDesc>) override { return 0; }
    bool beginStep(std::int64_t) override { return false; }
    tt_stats* stats(std::uint32_t) override { return nullptr; }
    float* floats(std::uint32_t, std::uint8_t**) override { return nullptr; }
    double* doubles(std::uint32_t, std::uint8_t**) override { return nullptr; }
    void commitStep() override { }
    void dropped(std::int64_t, std::uint64_t, std::uint64_t) override { }
    void abandonStep() override { }
    void event(const char*, std::int64_t, const std::string&, const std::string&, const char*) override { }
    std::optional<std::string_view> recorderAsked() override { return std::nullopt; }
    void blob(const char*, const char*, std::int64_t, std::string_view) override { }
    void cost(std::chrono::nanoseconds, std::chrono::nanoseconds) override { }
    void thinning(std::int64_t, double) override { }
    std::optional<DueConfig> configDue(std::int64_t) override { return std::nullopt; }
    void setConfigInForce(std::uint64_t, std::int64_t, const std::string&, const std::string&) override { }
    void refuseConfig(std::uint64_t, std::int64_t, const std::string&) override { }
    bool isConfigOffered(const std::string&) override { return false; }
    bool isSteered() const override { return false; }
};

/// Whatever bytes its texts have.
std::string documentText(const nlohmann::json& document)
{
    return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}

Watch watch(
    torch::nn::Module& model, torch::optim::Optimizer& optimizer, const std::string& config, ModelOptions options)
{
    LoadedConfig loaded;
    if (auto read = loadMonitorConfig(config))
        loaded = *std::move(read);
    else
        agent::say(read.error().sentence() + "; the defaults are used");

    MonitorOptions monitorOptions;
    monitorOptions.config = loaded.config;
    monitorOptions.configText = loaded.text;
    monitorOptions.configPath = pathOf(config);
    monitorOptions.rank = rankFromEnvironment();
    std::unique_ptr<Sink> sink;
    const auto framework = frameworkName();
    if (auto agent = AgentSink::open(agentOptions(framework, loaded.text))) {
        sink = *std::move(agent);
    } else {
        agent::say(agent.error().sentence() + "; the training is not watched");
        sink = std::make_unique<NullSink>();
        monitorOptions.isOn = false;
    }
    const bool isEnvironmentWanted = monitorOptions.isOn && monitorOptions.config.environment;
    if (isEnvironmentWanted && isEnvironmentAllowed())
        withoutThrowing(
            [&] { sink->blob("environment", "environment", options.startIteration, environmentJson(framework)); });
    Watch out(std::move(sink), std::move(monitorOptions));
    out->setMonitor(model, optimizer, options);
    return out;
}

bool Watch::hyperparameters(const std::string& json)
{
    if (!nlohmann::json::accept(json) || !nlohmann::json::parse(json).is_object()) {
        agent::say("hyperparameters() takes a JSON object, as {\"lr\": 0.001}; it is left out");
        return false;
    }
    if (m_speaks)
        m_sink->blob("hyperparameters", "hyperparameters", m_monitor->stepNumber(), json);
    return true;
}

void Watch::tags(const std::vector<std::string>& tags)
{
    const nlohmann::json document { { "tags", tags } };
    std::string text = "tags:";
    for (const std::string& tag : tags)
        text += ' ' + tag;
    if (m_speaks)
        m_sink->event("tags", m_monitor->stepNumber(), text, documentText(document), "");
}

void Watch::notes(const std::string& text)
{
    const nlohmann::json document { { "notes", text } };
    if (m_speaks)
        m_sink->event("notes", m_monitor->stepNumber(), text.substr(0, text.find('\n')), documentText(document), "");
}

}
