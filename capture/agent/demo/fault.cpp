// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/demo/fault.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace telltale::demo {
namespace {

constexpr std::array kFaults {
#define TELLTALE_FAULT(kind, name, where, fits, usual, isLasting, strength)                                            \
    FaultFacts { FaultKind::kind, name, FaultWhere::where, FaultFits::fits, usual, isLasting, strength },
#include <telltale/demo/faulttable.h>
#undef TELLTALE_FAULT
};
constexpr FaultFacts kNoFault {};
constexpr double kScoreLimit = 128.0;

tl::unexpected<Error> bad(std::string_view text, std::string_view why, std::string_view quoted = {})
{
    std::string what("--fault ");
    what.append(text).append(": ").append(why);
    if (!quoted.empty())
        what.append(" \"").append(quoted).append("\"");
    return failure(
        ErrorCode::BadInput, std::move(what), "say KIND@STEP[:MODULE][:RANK] with KIND one of " + faultNames(", "));
}

template <typename Number> std::optional<Number> wholeNumber(std::string_view text)
{
    Number value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isOne = !text.empty() && parsed.ec == std::errc {} && parsed.ptr == text.data() + text.size();
    return isOne && value >= 0 ? std::optional(value) : std::nullopt;
}

/// What a fault of the training belongs to instead of a module.
std::string_view ownerOf(FaultKind kind)
{
    switch (kind) {
    case FaultKind::LearningRate:
        return "a learning rate belongs to no module";
    case FaultKind::RepeatedToken:
        return "a batch belongs to no module";
    case FaultKind::ResetMoments:
        return "a restart belongs to no module";
    default:
        return "a lull belongs to no module";
    }
}

/// [:MODULE][:RANK], without the first colon.
Expected<void> readPlace(std::string_view text, std::string_view place, Fault& fault)
{
    const auto colon = place.rfind(':');
    const auto last = colon == std::string_view::npos ? place : place.substr(colon + 1);
    fault.rank = wholeNumber<int>(last);
    if (fault.rank && colon == std::string_view::npos)
        return {};
    const auto module = fault.rank ? place.substr(0, colon) : place;
    if (module.empty())
        return bad(text, "the module after the colon is empty");
    if (const auto more = module.find(':'); more != std::string_view::npos)
        return bad(text, "not a rank:", module.substr(more + 1));
    if (factsOf(fault.kind).where == FaultWhere::Training)
        return bad(text, ownerOf(fault.kind));
    fault.module = module;
    return {};
}

}

const FaultFacts& factsOf(FaultKind kind)
{
    const auto found
        = std::find_if(kFaults.begin(), kFaults.end(), [kind](const FaultFacts& facts) { return facts.kind == kind; });
    return found == kFaults.end() ? kNoFault : *found;
}

std::string faultNames(std::string_view between)
{
    std::string names;
    for (const FaultFacts& facts : kFaults)
        names.append(names.empty() ? "" : between).append(facts.name);
    return names;
}

bool Fault::strikes(FaultKind which, std::int64_t at) const
{
    return which == kind && kind != FaultKind::None && (factsOf(kind).isLasting ? at >= step : at == step);
}

double Fault::scoreFactor(std::int64_t at, std::string_view name) const
{
    if (!strikes(FaultKind::EntropyCollapse, at) || name != module)
        return 1.0;
    return std::min(kScoreLimit, std::pow(factsOf(kind).strength, static_cast<double>(at - step + 1)));
}

double Fault::inputFactor(std::int64_t at, std::string_view name) const
{
    if (!strikes(FaultKind::LogitGrowth, at) || name != module)
        return 1.0;
    return std::pow(factsOf(kind).strength, static_cast<double>(at - step + 1));
}

double Fault::learningRateFactor(std::int64_t at) const
{
    return strikes(FaultKind::LearningRate, at) ? factsOf(kind).strength : 1.0;
}

double Fault::lossFactor(std::int64_t at) const
{
    return kind == FaultKind::Lull && at < step ? factsOf(kind).strength : 1.0;
}

Expected<Fault> parseFault(std::string_view text)
{
    const auto at = text.find('@');
    if (at == std::string_view::npos)
        return bad(text, "the step is missing");
    const auto name = text.substr(0, at);
    const auto known
        = std::find_if(kFaults.begin(), kFaults.end(), [name](const FaultFacts& facts) { return facts.name == name; });
    if (known == kFaults.end())
        return bad(text, "unknown fault", name);

    auto rest = text.substr(at + 1);
    Fault fault;
    fault.kind = known->kind;
    if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
        if (auto read = readPlace(text, rest.substr(colon + 1), fault); !read)
            return tl::unexpected<Error>(std::move(read.error()));
        rest = rest.substr(0, colon);
    }
    const auto step = wholeNumber<std::int64_t>(rest);
    if (!step)
        return bad(text, "not a step:", rest);
    fault.step = *step;
    return fault;
}

}
