// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/monitorconfig.h>

#include <charconv>

#include <nlohmann/json.hpp>

namespace telltale::config {
namespace {

/// The number after `mark`, 0 without one: "output_2" after '_', "tuple[3]:2" after ':'.
int numberAfter(std::string_view text, char mark)
{
    int number = 0;
    if (const auto at = text.rfind(mark); at != std::string_view::npos)
        std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
    return number;
}

}

bool selectsSlot(std::string_view selection, std::string_view slot, bool gradient)
{
    if (selection.empty())
        return true;
    const auto sides = nlohmann::json::parse(selection, nullptr, false);
    if (!sides.is_object() || sides.empty())
        return true;
    const auto side = std::string(slot.substr(0, slot.find('_'))) + (gradient ? "_grad" : "");
    const auto spec = sides.find(side);
    return spec != sides.end() && spec->is_string()
        && numberAfter(spec->get_ref<const std::string&>(), ':') == numberAfter(slot, '_');
}

}
