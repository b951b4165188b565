// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/options.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace telltale::demo {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000'000;
constexpr std::int64_t kMaxLayers = 96;
constexpr std::int64_t kMaxHeads = 64;
constexpr std::int64_t kMaxWidth = 4096;

constexpr std::array<std::string_view, 11> kFlags { "--join", "--config", "--steps", "--layers", "--heads", "--width",
    "--text", "--seed", "--fault", "--weights-out", "--step-times" };

bool takesValue(std::string_view flag)
{
    for (const auto known : kFlags) {
        if (known == flag)
            return true;
    }
    return false;
}

template <typename Int>
std::optional<Error> readNumber(
    std::string_view flag, std::string_view text, std::int64_t low, std::int64_t high, Int& into)
{
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || parsed.ec != std::errc {} || parsed.ptr != text.data() + text.size() || value < low
        || value > high) {
        return Error { ErrorCode::BadInput,
            std::string(flag) + " takes a number from " + std::to_string(low) + " to " + std::to_string(high)
                + ", not \"" + std::string(text) + "\"",
            {} };
    }
    into = static_cast<Int>(value);
    return std::nullopt;
}

std::optional<Error> apply(Options& options, std::string_view flag, std::string_view value)
{
    if (flag == "--join")
        options.join = value;
    else if (flag == "--config")
        options.configPath = value;
    else if (flag == "--text")
        options.textPath = value;
    else if (flag == "--weights-out")
        options.weightsPath = value;
    else if (flag == "--step-times")
        options.stepTimesPath = value;
    else if (flag == "--steps")
        return readNumber(flag, value, 0, kMaxSteps, options.steps);
    else if (flag == "--layers")
        return readNumber(flag, value, 1, kMaxLayers, options.layers);
    else if (flag == "--heads")
        return readNumber(flag, value, 1, kMaxHeads, options.heads);
    else if (flag == "--width")
        return readNumber(flag, value, 1, kMaxWidth, options.width);
    else if (flag == "--seed")
        return readNumber(flag, value, 0, INT64_MAX, options.seed);
    else {
        auto fault = parseFault(value);
        if (!fault)
            return fault.error();
        options.fault = *std::move(fault);
    }
    return std::nullopt;
}

}

Expected<Options> parseOptions(std::span<const char* const> arguments)
{
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::string_view flag = arguments[i];
        if (flag == "--help" || flag == "-h") {
            options.helpWanted = true;
            continue;
        }
        if (flag == "--no-agent") {
            options.agentWanted = false;
            continue;
        }
        std::optional<std::string_view> value;
        if (const auto equals = flag.find('='); equals != std::string_view::npos) {
            value = flag.substr(equals + 1);
            flag = flag.substr(0, equals);
        }
        if (!takesValue(flag))
            return failure(ErrorCode::BadInput, "unknown flag \"" + std::string(flag) + "\"", "see --help");
        if (!value) {
            if (++i == arguments.size())
                return failure(ErrorCode::BadInput, std::string(flag) + " takes a value", "see --help");
            value = arguments[i];
        }
        if (auto error = apply(options, flag, *value))
            return tl::unexpected<Error>(*std::move(error));
    }
    if (options.width % options.heads != 0) {
        return failure(ErrorCode::BadInput,
            "--width " + std::to_string(options.width) + " is not a multiple of --heads "
                + std::to_string(options.heads));
    }
    return options;
}

std::string usage()
{
    return R"(Usage: telltale-demo-trainer [options]
Trains a small character-level transformer and streams what happens inside it to Telltale.

  --join J             join string of the dashboard (default: TELLTALE_JOIN)
  --config FILE        monitor config (default: everything is collected)
  --steps N            optimizer steps (1000)
  --layers N           transformer layers (4)
  --heads N            attention heads (4)
  --width N            model width, a multiple of the heads (160)
  --text FILE          text to learn (/usr/share/common-licenses/GPL-3)
  --seed N             seed of weights, batches and dropout (1234)
  --fault F            nan|inf|spike|freeze|entropy-collapse|lr @STEP[:MODULE]
  --no-agent           train without any monitoring
  --weights-out FILE   write the final parameters' raw bytes
  --step-times FILE    write the duration of every step, microseconds, one a line
  --help               this text

Ends with one JSON object on standard output; progress goes to standard error.
)";
}

}
