// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/fieldreader.h>

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include <telltale/config/nearest.h>

namespace telltale::config {
namespace {

constexpr std::array<std::string_view, 6> kServedOps { "norm", "mean", "min", "max", "zeros", "nans" };
/// msprobe has these too; they describe a tensor rather than measure it.
constexpr std::array<std::string_view, 3> kOtherOps { "id", "shape", "dtype" };
constexpr std::array<std::string_view, 4> kSides { "input", "output", "input_grad", "output_grad" };

/// The value as the user wrote it, cut where it would fill the screen.
std::string shown(const Json& value)
{
    constexpr std::size_t kLongest = 60;
    auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > kLongest)
        text = text.substr(0, kLongest) + "...";
    return text;
}

bool isTupleSpec(const std::string& text)
{
    static const std::regex spec(R"(tensor|tuple\[\d{1,4}\](:\d{1,4})?)");
    return std::regex_match(text, spec);
}

}

void FieldReader::error(const std::string& pointer, std::string sentence)
{
    m_problems.push_back({ pointer, std::move(sentence), true });
}

void FieldReader::warning(const std::string& pointer, std::string sentence)
{
    m_problems.push_back({ pointer, std::move(sentence), false });
}

void FieldReader::mustBe(const std::string& pointer, const Json& value, const std::string& what)
{
    error(pointer, fmt::format("{} is {}; it must be {}", pointer, shown(value), what));
}

void FieldReader::unknown(
    const std::string& pointer, std::string_view what, const std::string& name, std::span<const std::string_view> known)
{
    auto sentence = fmt::format("{} {} is unknown", what, shown(Json(name)));
    if (const auto near = nearestName(name, known); !near.empty())
        sentence += fmt::format("; did you mean \"{}\"?", near);
    else
        sentence += fmt::format("; known are {}", fmt::join(known, ", "));
    error(pointer, std::move(sentence));
}

void FieldReader::readBool(const std::string& pointer, const Json& value, bool& into)
{
    if (value.is_boolean())
        into = value.get<bool>();
    else
        mustBe(pointer, value, "true or false");
}

void FieldReader::readInteger(
    const std::string& pointer, const Json& value, std::int64_t low, std::int64_t high, std::int64_t& into)
{
    const bool isHuge = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high);
    if (value.is_number_integer() && !isHuge && value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high)
        into = value.get<std::int64_t>();
    else
        mustBe(pointer, value, fmt::format("a whole number from {} to {}", low, high));
}

void FieldReader::readNumber(const std::string& pointer, const Json& value, double low, double high, double& into)
{
    if (value.is_number() && value.get<double>() >= low && value.get<double>() <= high)
        into = value.get<double>();
    else
        mustBe(pointer, value, fmt::format("a number from {} to {}", low, high));
}

void FieldReader::readTargets(const std::string& pointer, const Json& value, std::map<std::string, std::string>& into)
{
    if (!value.is_object())
        return mustBe(pointer, value, "an object of module or parameter names");
    for (const auto& [name, sides] : value.items()) {
        const auto target = childPointer(pointer, name);
        if (!sides.is_object()) {
            mustBe(target, sides, R"(an object such as {} or {"output": "tuple[2]:0"})");
            continue;
        }
        for (const auto& [side, spec] : sides.items()) {
            const auto place = childPointer(target, side);
            if (std::find(kSides.begin(), kSides.end(), side) == kSides.end())
                unknown(place, "the side", side, kSides);
            else if (!spec.is_string() || !isTupleSpec(spec.get<std::string>()))
                mustBe(place, spec, R"("tensor", "tuple[2]" or "tuple[2]:0")");
        }
        into[name] = sides.empty() ? std::string() : sides.dump();
    }
}

void FieldReader::readOps(const std::string& pointer, const Json& value, std::vector<std::string>& into)
{
    if (!value.is_array())
        return mustBe(pointer, value, "a list of operation names");
    into.clear();
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto place = childPointer(pointer, std::to_string(i));
        if (!value[i].is_string()) {
            mustBe(place, value[i], "an operation name");
            continue;
        }
        const auto op = value[i].get<std::string>();
        if (std::find(kOtherOps.begin(), kOtherOps.end(), op) != kOtherOps.end())
            warning(place, fmt::format("the operation \"{}\" is not served yet and is left out", op));
        else if (std::find(kServedOps.begin(), kServedOps.end(), op) == kServedOps.end())
            unknown(place, "the operation", op, kServedOps);
        else if (std::find(into.begin(), into.end(), op) == into.end())
            into.push_back(op);
    }
    if (into.empty())
        into = { "norm" };
}

void FieldReader::readRanks(const std::string& pointer, const Json& value, std::vector<int>& into)
{
    constexpr std::int64_t kLastRank = 1'000'000;
    if (!value.is_array())
        return mustBe(pointer, value, "a list of rank numbers");
    for (std::size_t i = 0; i < value.size(); ++i) {
        std::int64_t rank = -1;
        readInteger(childPointer(pointer, std::to_string(i)), value[i], 0, kLastRank, rank);
        if (rank >= 0)
            into.push_back(static_cast<int>(rank));
    }
}

std::string childPointer(const std::string& parent, std::string_view token)
{
    std::string out = parent + "/";
    for (const char c : token) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

}
