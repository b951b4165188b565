// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/archive/moment.h>

#include <array>
#include <charconv>
#include <ctime>
#include <string>

namespace telltale::archive {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kHourNs = 3600 * kSecondNs;
constexpr std::int64_t kDayNs = 24 * kHourNs;
constexpr std::int64_t kMostAge = 100 * 365 * kDayNs; ///< what is counted back stays a moment

tl::unexpected<Error> noMoment(std::string_view text)
{
    return failure(ErrorCode::BadInput, "'" + std::string(text) + "' is no date",
        "write 2026-11-24, 2026-11-24T10:30, today, yesterday, or an age such as 7d");
}

/// Takes a number of so many digits, and the sign behind it where there is to be one.
bool takeNumber(std::string_view& text, std::size_t digits, int& number, char behind = 0)
{
    if (text.size() < digits + (behind != 0 ? 1 : 0))
        return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
    if (error != std::errc() || end != text.data() + digits || (behind != 0 && text[digits] != behind))
        return false;
    text.remove_prefix(digits + (behind != 0 ? 1 : 0));
    return true;
}

/// With the time of day as it is written; `text` is what stands behind the date.
bool takeTime(std::string_view& text, std::tm& moment)
{
    text.remove_prefix(1);
    if (!takeNumber(text, 2, moment.tm_hour, ':') || !takeNumber(text, 2, moment.tm_min))
        return false;
    if (!text.starts_with(':'))
        return true;
    text.remove_prefix(1);
    return takeNumber(text, 2, moment.tm_sec);
}

std::int64_t endOf(std::tm moment, bool isUtc)
{
    const std::time_t seconds = isUtc ? timegm(&moment) : std::mktime(&moment);
    return static_cast<std::int64_t>(seconds) * kSecondNs;
}

}

Expected<std::int64_t> parseAge(std::string_view text)
{
    constexpr std::array<std::pair<char, std::int64_t>, 5> kUnits { { { 'm', 60 * kSecondNs }, { 'h', kHourNs },
        { 'd', kDayNs }, { 'w', 7 * kDayNs }, { 'y', 365 * kDayNs } } };
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && count >= 0 && end + 1 == text.data() + text.size()) {
        for (const auto& [letter, ns] : kUnits) {
            if (*end == letter && count <= kMostAge / ns)
                return count * ns;
        }
    }
    return failure(ErrorCode::BadInput, "'" + std::string(text) + "' is no age",
        "write a number and m, h, d, w or y: 90d are ninety days");
}

Expected<std::int64_t> parseMoment(std::string_view text, Edge edge, std::int64_t nowNs)
{
    std::tm moment {};
    moment.tm_isdst = -1;
    const auto now = static_cast<std::time_t>(nowNs / kSecondNs);
    std::string_view left = text;
    bool isDay = true;
    bool isUtc = false;
    if (text == "today" || text == "yesterday") {
        localtime_r(&now, &moment);
        moment.tm_mday -= text == "yesterday" ? 1 : 0;
        moment.tm_hour = moment.tm_min = moment.tm_sec = 0;
        moment.tm_isdst = -1;
    } else if (takeNumber(left, 4, moment.tm_year, '-') && takeNumber(left, 2, moment.tm_mon, '-')
        && takeNumber(left, 2, moment.tm_mday)) {
        moment.tm_year -= 1900;
        moment.tm_mon -= 1;
        if (left.starts_with('T') || left.starts_with(' ')) {
            isDay = false;
            if (!takeTime(left, moment))
                return noMoment(text);
        }
        isUtc = left == "Z";
        const std::tm asked = moment;
        std::tm real = moment;
        timegm(&real); // the 31st of a month that has none becomes another day
        if ((!left.empty() && !isUtc) || real.tm_mday != asked.tm_mday || real.tm_mon != asked.tm_mon
            || real.tm_hour != asked.tm_hour || real.tm_min != asked.tm_min)
            return noMoment(text);
    } else if (const auto age = parseAge(text)) {
        return nowNs - *age;
    } else {
        return noMoment(text);
    }
    if (isDay && edge == Edge::Last) {
        moment.tm_mday += 1;
        return endOf(moment, isUtc) - 1;
    }
    return endOf(moment, isUtc);
}

}
