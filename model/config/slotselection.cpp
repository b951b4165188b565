// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/monitorconfig.h>

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

namespace telltale::config {
namespace {

/// The number after the colon of "tuple[3]:2", 0 without one.
int numberAfter(std::string_view text)
{
    int number = 0;
    if (const auto at = text.rfind(':'); at != std::string_view::npos)
        std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
    return number;
}

}

bool selectsSlot(std::string_view selection, const Slot& slot, bool gradient)
{
    if (selection.empty())
        return true;
    const auto sides = nlohmann::json::parse(selection, nullptr, false);
    if (!sides.is_object() || sides.empty())
        return true;
    const auto side = Slot { slot.role }.text() + (gradient ? "_grad" : "");
    const auto spec = sides.find(side);
    return spec != sides.end() && spec->is_string()
        && numberAfter(spec->get_ref<const std::string&>()) == std::max(slot.number, 0);
}

}
