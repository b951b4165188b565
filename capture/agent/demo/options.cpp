// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/options.h>

#include <optional>
#include <vector>

#include <CLI/CLI.hpp>

namespace telltale::demo {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000'000;
constexpr int kMaxLayers = 96;
constexpr int kMaxHeads = 64;
constexpr int kMaxWidth = 4096;

/// Binds every option to its field; what parseFault() says goes to `bad`.
void bind(CLI::App& app, Options& options, std::optional<Error>& bad)
{
    const auto text = [&app](const char* flag, std::string& into, const char* name, const char* help) {
        app.add_option(flag, into, help)->type_name(name)->take_last();
    };
    const auto number = [&app](const char* flag, auto& into, auto least, auto most, const char* help) {
        app.add_option(flag, into, help)->type_name("N")->check(CLI::Range(least, most).description({}))->take_last();
    };
    text("--join", options.join, "J", "join string of the dashboard (default: TELLTALE_JOIN)");
    text("--config", options.configPath, "FILE", "monitor config (default: everything is collected)");
    number("--steps", options.steps, std::int64_t { 0 }, kMaxSteps, "optimizer steps (1000)");
    number("--layers", options.layers, 1, kMaxLayers, "transformer layers (4)");
    number("--heads", options.heads, 1, kMaxHeads, "attention heads (4)");
    number("--width", options.width, 1, kMaxWidth, "model width, a multiple of the heads (160)");
    app.add_option("--schedule", options.schedule, "of the learning rate: cosine or constant (cosine)")
        ->type_name("S")
        ->check(CLI::IsMember({ "cosine", "constant" }).description({}))
        ->take_last();
    text("--text", options.textPath, "FILE", "text to learn (/usr/share/common-licenses/GPL-3)");
    number("--seed", options.seed, std::int64_t { 0 }, INT64_MAX, "seed of weights, batches and dropout (1234)");
    const auto fault = [&options, &bad](const std::string& words) {
        auto parsed = parseFault(words);
        if (parsed)
            options.fault = *std::move(parsed);
        else
            bad = std::move(parsed.error());
    };
    app.add_option_function<std::string>("--fault", fault, faultNames("|") + " @STEP[:MODULE][:RANK]")
        ->type_name("F")
        ->take_last();
    app.add_flag_callback(
           "--no-agent", [&options] { options.agentWanted = false; }, "train without any monitoring")
        ->disable_flag_override();
    text("--weights-out", options.weightsPath, "FILE", "write the final parameters' raw bytes");
    text("--step-times", options.stepTimesPath, "FILE", "write the duration of every step, microseconds, one a line");
    app.footer("Ends with one JSON object on standard output; progress goes to standard error.");
}

}

Expected<Options> parseOptions(std::span<const char* const> arguments)
{
    Options options;
    std::optional<Error> bad;
    CLI::App app("Trains a small character-level transformer and streams what happens inside it to Telltale.",
        "telltale-demo-trainer");
    bind(app, options, bad);
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); // CLI11 wants them backwards
    } catch (const CLI::CallForHelp&) {
        options.help = app.help();
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string_view sentence = error.what(); // begins with the option's name
        return failure(
            ErrorCode::BadInput, std::string(sentence.substr(0, sentence.find(':'))) + " takes a value", "see --help");
    } catch (const CLI::ParseError& error) {
        return failure(ErrorCode::BadInput, error.what(), "see --help");
    }
    if (const auto unknown = app.remaining(); !unknown.empty())
        return failure(ErrorCode::BadInput, "unknown argument \"" + unknown.front() + "\"", "see --help");
    if (bad)
        return tl::unexpected<Error>(*std::move(bad));
    if (options.width % options.heads != 0) {
        return failure(ErrorCode::BadInput,
            "--width " + std::to_string(options.width) + " is not a multiple of --heads "
                + std::to_string(options.heads));
    }
    return options;
}

}
