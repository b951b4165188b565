// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/fieldreader.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <telltale/config/nearest.h>

namespace telltale::config {
namespace {

constexpr double kExactDouble = 9007199254740992.0; // 2^53

/// The value as the user wrote it, cut where it would fill the screen.
std::string shown(const Json& value)
{
    constexpr std::size_t kLongest = 60;
    auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > kLongest)
        text = text.substr(0, kLongest) + "...";
    return text;
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
    m_home.check();
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
    const bool isInteger = value.is_number_integer() && !isHuge;
    // 1e8 is a whole number too, however JSON's readers see it.
    const bool isWholeFloat = value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>()
        && std::fabs(value.get<double>()) <= kExactDouble;
    const std::int64_t number = isInteger || isWholeFloat ? value.get<std::int64_t>() : low;
    if ((isInteger || isWholeFloat) && number >= low && number <= high)
        into = number;
    else
        mustBe(pointer, value, fmt::format("a whole number from {} to {}", low, high));
}

void FieldReader::readNumber(const std::string& pointer, const Json& value, double low, double high, double& into)
{
    if (value.is_number() && value.get<double>() >= low && value.get<double>() <= high)
        into = value.get<double>();
    else
        mustBe(pointer, value,
            high < std::numeric_limits<double>::max() ? fmt::format("a number from {} to {}", low, high)
                                                      : fmt::format("a number from {} up", low));
}

void FieldReader::readTexts(const std::string& pointer, const Json& value, std::vector<std::string>& into)
{
    if (!value.is_array())
        return mustBe(pointer, value, "a list of strings");
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i].is_string())
            into.push_back(value[i].get<std::string>());
        else
            mustBe(childPointer(pointer, std::to_string(i)), value[i], "a string");
    }
}

void FieldReader::readSelection(const std::string& pointer, const Json& value, const std::string& what,
    std::string_view nothing, std::vector<std::string>& into)
{
    into.clear();
    if (value.is_array())
        readTexts(pointer, value, into);
    else
        mustBe(pointer, value, what);
    if (into.empty() && (!value.is_array() || !value.empty()))
        into.emplace_back(nothing);
}

void FieldReader::readNames(const std::string& pointer, const Json& value, std::string_view what,
    std::span<const std::string_view> known, std::vector<std::string>& into)
{
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto place = childPointer(pointer, std::to_string(i));
        if (!value[i].is_string()) {
            mustBe(place, value[i], fmt::format("one of {}", fmt::join(known, ", ")));
            continue;
        }
        auto name = value[i].get<std::string>();
        if (std::find(known.begin(), known.end(), name) == known.end())
            unknown(place, what, name, known);
        else if (std::find(into.begin(), into.end(), name) == into.end())
            into.push_back(std::move(name));
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
