// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/widecsvhead.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include <telltale/exchange/csvrows.h>

namespace telltale::exchange {

WideHead::WideHead(const std::vector<std::string_view>& cells)
    : names(cells.begin(), cells.end())
{
    const auto find = [this](std::string_view name) {
        const auto at = std::find(names.begin(), names.end(), name);
        return at == names.end() ? kNoColumn : static_cast<std::size_t>(at - names.begin());
    };
    if (find("_step") != kNoColumn) { // history(keys=["loss"]) gives no other column of its own
        kind = WideKind::History;
        step = find("_step");
        time = find("_timestamp");
    } else if (find("run_name") != kNoColumn && find("step") != kNoColumn) {
        kind = WideKind::Log;
        step = find("step");
        run = find("run_name");
        time = find("timestamp");
    } else if (names.size() > 1 && isPanel()) {
        kind = WideKind::Panel;
        step = 0;
    }
}

/// The end of a long head may be cut off.
bool WideHead::isPanel() const
{
    constexpr std::string_view kAxes[] { "Step", "Relative Time (Process)", "Relative Time (Wall)", "Wall Time" };
    const bool hasAxis = std::find(std::begin(kAxes), std::end(kAxes), names[0]) != std::end(kAxes);
    const auto isCurve = [](const std::string& name) { return name.find(kRunFromMetric) != std::string::npos; };
    const auto isLeast = [](const std::string& name) { return name.ends_with(kLeastColumn); };
    const bool isWhole = std::all_of(names.begin() + 1, names.end() - (names.size() > 2 ? 1 : 0), isCurve);
    return isWhole && isCurve(names[1]) && (hasAxis || std::any_of(names.begin(), names.end(), isLeast));
}

bool WideHead::isOwn(std::size_t column) const
{
    return column == step || column == time || column == run || (kind == WideKind::Panel && column == 0)
        || (column == 0 && (names[0].empty() || names[0] == "Unnamed: 0"))
        || (kind == WideKind::Log && names[column] == "id");
}

/// Unix time of "1770295561.25" (in seconds or thousandths of them) or "2026-02-05T12:46:01.25+00:00"; 0: it is none.
std::int64_t timeOfCell(std::string_view cell)
{
    if (const auto number = csvNumber(cell)) {
        const double seconds = *number > 1e11 ? *number / 1e3 : *number;
        return seconds > 0 && seconds < 9e9 ? std::llround(seconds * 1e9) : 0;
    }
    const std::string text(cell);
    std::tm day {};
    const char* at = ::strptime(text.c_str(), "%Y-%m-%d", &day);
    if (!at || (*at != 'T' && *at != ' '))
        return 0;
    at = ::strptime(at + 1, "%H:%M:%S", &day);
    if (!at)
        return 0;
    std::int64_t ns = 0;
    if (*at == '.') {
        std::int64_t unit = 100'000'000;
        for (++at; *at >= '0' && *at <= '9'; ++at, unit /= 10)
            ns += (*at - '0') * unit;
    }
    std::tm zone {};
    const std::string_view offset(at);
    const bool hasOffset = offset.size() >= 5 && (offset[0] == '+' || offset[0] == '-');
    if (hasOffset && ::strptime(at + 1, offset[3] == ':' ? "%H:%M" : "%H%M", &zone))
        ns -= (offset[0] == '+' ? 1 : -1) * (zone.tm_hour * 3600LL + zone.tm_min * 60LL) * 1'000'000'000;
    const std::time_t seconds = ::timegm(&day);
    return seconds > 0 && seconds < 9'000'000'000 ? seconds * 1'000'000'000 + ns : 0;
}

std::optional<double> valueOfCell(std::string_view cell)
{
    if (const auto number = csvNumber(cell))
        return number;
    if (cell == "true" || cell == "True")
        return 1;
    return cell == "false" || cell == "False" ? std::optional(0.0) : std::nullopt;
}

}
