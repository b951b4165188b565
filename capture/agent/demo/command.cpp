// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/command.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/demo/options.h>
#include <telltale/demo/trainer.h>
#include <telltale/torch/agentsetup.h>
#include <telltale/torch/agentsink.h>
#include <telltale/torch/configfile.h>

namespace telltale::demo {
namespace {

namespace fs = std::filesystem;

/// Everything, and a histogram of each gradient.
constexpr const char* kDemoConfig
    = R"({"targets": {}, "wg_distribution": true, "mv_distribution": true, "param_distribution": true, )"
      R"("xy_distribution": true, "telltale": {"attention_hook": true, "threads": 1, "histogram": ["grad_reduced"]}})";
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr std::uint32_t kFlushMs = 5000;
constexpr std::uint32_t kGoodbyeMs = 200; ///< closing comes after the flush

int complain(const Error& error, int code)
{
    std::fprintf(stderr, "telltale-demo-trainer: %s\n", error.sentence().c_str());
    return code;
}

Expected<std::unique_ptr<AgentSink>> openAgent(
    const Options& options, const LoadedConfig& loaded, const std::string& framework)
{
    auto agent = agentOptions(framework, loaded.text);
    agent.run_name = "demo-gpt";
    agent.join = options.join.empty() ? nullptr : options.join.c_str();
    agent.flush_ms = kGoodbyeMs;
    return AgentSink::open(agent);
}

Expected<void> writeFile(const std::string& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file)
        return failure(ErrorCode::Io, "cannot write " + path + ": " + std::strerror(errno));
    return {};
}

Expected<void> writeResults(const Options& options, const TrainingResult& result)
{
    if (!options.weightsPath.empty()) {
        if (auto written = writeFile(options.weightsPath, result.weights); !written)
            return written;
    }
    if (!options.stepTimesPath.empty()) {
        std::string lines;
        for (const auto time : result.stepMicroseconds)
            lines += std::to_string(time) + "\n";
        return writeFile(options.stepTimesPath, lines);
    }
    return {};
}

double medianMs(std::vector<std::int64_t> microseconds)
{
    if (microseconds.empty())
        return 0;
    const auto middle = microseconds.begin() + static_cast<std::ptrdiff_t>(microseconds.size() / 2);
    std::nth_element(microseconds.begin(), middle, microseconds.end());
    return static_cast<double>(*middle) / 1000.0;
}

void printSummary(const TrainingResult& result, const tt_counters& counters)
{
    nlohmann::ordered_json summary;
    summary["steps"] = result.steps;
    summary["produced"] = counters.produced;
    summary["acked"] = counters.acked;
    summary["dropped"] = counters.dropped;
    summary["in_flight"] = counters.in_flight;
    summary["step_ms_p50"] = medianMs(result.stepMicroseconds);
    summary["monitor_ms_p50"] = medianMs(result.monitorMicroseconds);
    // JSON has no NaN: a loss that is not finite is null.
    summary["final_loss"] = std::isfinite(result.finalLoss) ? nlohmann::ordered_json(result.finalLoss) : nullptr;
    summary["interrupted"] = result.wasInterrupted;
    std::printf("%s\n", summary.dump().c_str());
    std::fflush(stdout);
}

/// LibTorch speaks in exceptions (no memory for so wide a model); here they end.
Expected<TrainingResult> trainGuarded(
    const Options& options, const LoadedConfig& loaded, Sink* sink, const std::atomic<bool>& interrupted)
{
    try {
        return train(options, loaded, sink, rankFromEnvironment(), interrupted);
    } catch (const std::exception& error) {
        const std::string_view text = error.what();
        return failure(ErrorCode::Io, "the training failed: " + std::string(text.substr(0, text.find('\n'))));
    }
}

}

int runCommand(std::span<const char* const> arguments, const std::atomic<bool>& interrupted)
{
    const auto options = parseOptions(arguments);
    if (!options)
        return complain(options.error(), kBadInput);
    if (!options->help.empty()) {
        std::fputs(options->help.c_str(), stdout);
        return kDone;
    }
    const auto loaded = loadMonitorConfig(options->configPath.empty() ? kDemoConfig : options->configPath);
    if (!loaded)
        return complain(loaded.error(), kBadInput);

    const auto framework = frameworkName();
    std::unique_ptr<AgentSink> agent;
    if (options->agentWanted) {
        auto opened = openAgent(*options, *loaded, framework);
        if (!opened)
            return complain(opened.error(), kBadInput);
        agent = *std::move(opened);
    }
    const auto result = trainGuarded(*options, *loaded, agent.get(), interrupted);
    if (!result) {
        if (agent)
            agent->setGoodbye("error");
        return complain(result.error(), result.error().code == ErrorCode::BadInput ? kBadInput : kFailed);
    }
    tt_counters counters {};
    if (agent) {
        agent->flush(kFlushMs);
        counters = agent->counters();
    }
    if (result->wasInterrupted) {
        std::fprintf(stderr,
            "telltale-demo-trainer: stopped by a signal after step %lld of %lld, %llu samples in flight\n",
            static_cast<long long>(result->steps), static_cast<long long>(options->steps),
            static_cast<unsigned long long>(counters.in_flight));
    }
    if (agent && counters.in_flight > 0 && !result->wasInterrupted) {
        const std::string why = agent->lastError();
        const std::string folder = agent->keepingFolder();
        agent.reset(); // the spool gets the rest now, and what is lost is told
        std::error_code error;
        const bool isKept = !folder.empty() && fs::is_directory(folder, error) && !fs::is_empty(folder, error);
        const std::string advice = isKept
            ? "; what the spool took is kept there: this run's next agent delivers it, or 'telltale import " + folder
                + "'"
            : "";
        std::fprintf(stderr, "telltale-demo-trainer: %llu samples did not reach the dashboard%s%s%s\n",
            static_cast<unsigned long long>(counters.in_flight), why.empty() ? "" : ": ", why.c_str(), advice.c_str());
    }
    const auto written = writeResults(*options, *result);
    printSummary(*result, counters);
    return written ? kDone : complain(written.error(), kFailed);
}

}
