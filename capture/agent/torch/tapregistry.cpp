// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/tapregistry.h>

namespace telltale {

std::size_t TapRegistry::find(std::string_view name, const Slot& slot, bool& isNew)
{
    m_key.assign(name);
    m_key.append({ '\0', static_cast<char>(slot.role) });
    slot.appendTo(m_key);
    const auto found = m_numbers.find(m_key);
    isNew = found == m_numbers.end();
    if (!isNew)
        return found->second;
    m_points.push_back({ std::string(name), slot, false, false, 0, {}, {} });
    m_numbers.emplace(m_key, m_points.size() - 1);
    return m_points.size() - 1;
}

void TapRegistry::startStep()
{
    for (auto& point : m_points)
        point.calls = 0;
}

}
