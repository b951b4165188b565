// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/fault.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace telltale::demo {
namespace {

struct NamedKind {
    std::string_view name;
    FaultKind kind;
};
constexpr std::array<NamedKind, 6> kKinds { {
    { "nan", FaultKind::Nan },
    { "inf", FaultKind::Inf },
    { "spike", FaultKind::Spike },
    { "freeze", FaultKind::Freeze },
    { "entropy-collapse", FaultKind::EntropyCollapse },
    { "lr", FaultKind::LearningRate },
} };

constexpr double kScoreGrowth = 1.25; ///< per step: visible within ten steps, slow enough to be seen coming
constexpr double kScoreLimit = 128.0;
constexpr double kLearningRateFactor = 30.0;

tl::unexpected<Error> bad(std::string_view text, std::string_view why, std::string_view quoted = {})
{
    std::string what("--fault ");
    what.append(text).append(": ").append(why);
    if (!quoted.empty())
        what.append(" \"").append(quoted).append("\"");
    return failure(ErrorCode::BadInput, std::move(what),
        "say KIND@STEP[:MODULE] with KIND one of nan, inf, spike, freeze, entropy-collapse, lr");
}

}

bool Fault::strikesOutputAt(std::int64_t at, std::string_view name) const
{
    const bool strikes = kind == FaultKind::Nan || kind == FaultKind::Inf || kind == FaultKind::Spike;
    return strikes && at == step && name == module;
}

double Fault::scoreFactor(std::int64_t at, std::string_view name) const
{
    if (kind != FaultKind::EntropyCollapse || at < step || name != module)
        return 1.0;
    return std::min(kScoreLimit, std::pow(kScoreGrowth, static_cast<double>(at - step + 1)));
}

double Fault::learningRateFactor(std::int64_t at) const
{
    return kind == FaultKind::LearningRate && at >= step ? kLearningRateFactor : 1.0;
}

Expected<Fault> parseFault(std::string_view text)
{
    const auto at = text.find('@');
    if (at == std::string_view::npos)
        return bad(text, "the step is missing");
    const auto name = text.substr(0, at);
    const auto known = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.name == name; });
    if (known == kKinds.end())
        return bad(text, "unknown fault", name);

    auto rest = text.substr(at + 1);
    Fault fault;
    fault.kind = known->kind;
    if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
        fault.module = rest.substr(colon + 1);
        rest = rest.substr(0, colon);
        if (fault.module.empty())
            return bad(text, "the module after the colon is empty");
    }
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), fault.step);
    if (rest.empty() || parsed.ec != std::errc {} || parsed.ptr != rest.data() + rest.size() || fault.step < 0)
        return bad(text, "not a step:", rest);
    if (fault.kind == FaultKind::LearningRate && !fault.module.empty())
        return bad(text, "a learning rate belongs to no module");
    return fault;
}

}
