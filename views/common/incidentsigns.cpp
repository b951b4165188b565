// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidentsigns.h"

#include <algorithm>
#include <map>

namespace telltale::views {

std::vector<IncidentSign> IncidentSign::of(const FlagPlaces& flags, StepRange range,
    const std::vector<EventMark>& marks, const std::function<double(Step)>& xOf)
{
    std::map<int, EventMark::Shape> worst;
    for (const EventMark& mark : marks) {
        if (!range.contains(mark.step))
            continue;
        EventMark::Shape& known = worst[static_cast<int>(xOf(mark.step) / 4)];
        known = std::max(known, mark.shape);
    }
    std::vector<IncidentSign> signs;
    signs.reserve(worst.size());
    for (const auto& [place, shape] : worst)
        signs.push_back({ flags.beside(place * 4 + 2), shape });
    return signs;
}

}
