// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/stepcolumns.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace telltale::judge {

using series::CellState;

Asked Asked::of(const Watchlist& list, const std::function<bool(const Watched&)>& wanted)
{
    Asked asked;
    const auto ask = [&list](std::vector<Channel>& channels, Stat stat, std::size_t row) {
        auto known = std::find_if(
            channels.begin(), channels.end(), [stat](const Channel& channel) { return channel.query.stat == stat; });
        if (known == channels.end()) {
            known = channels.insert(channels.end(), Channel {});
            known->query.stat = stat;
            known->query.memo = std::make_shared<series::RowsMemo>();
        }
        known->rows.push_back(row);
        known->query.rows.push_back(list.rows[row].attempts);
    };
    for (std::size_t i = 0; i < list.rows.size(); ++i) {
        const Watched& row = list.rows[i];
        if (wanted && !wanted(row))
            continue;
        ask(asked.values, row.stat, i);
        if (row.extra != Stat::Unspecified)
            ask(asked.extras, row.extra, i);
        if (row.limit > 0)
            ask(asked.magnitudes, Stat::AbsMax, i);
    }
    return asked;
}

Expected<std::optional<StepColumns>> StepColumns::read(
    store::RunReader& reader, const Watchlist& list, Asked& asked, StepRange steps, const series::CancelToken& cancel)
{
    StepColumns columns;
    columns.m_steps = steps;
    columns.m_rows = list.rows.size();
    for (const auto& [channels, into] : { std::pair { &asked.values, &columns.m_channels },
             std::pair { &asked.extras, &columns.m_extras }, std::pair { &asked.magnitudes, &columns.m_magnitudes } }) {
        for (Asked::Channel& channel : *channels) {
            channel.query.range = steps;
            channel.query.pixels = static_cast<int>(steps.count());
            auto heat = reader.heatmap(channel.query, cancel);
            if (!heat)
                return tl::unexpected<Error>(heat.error());
            into->push_back({ &channel.rows, std::move(*heat) });
        }
    }
    return columns.m_channels.empty() ? std::nullopt : std::optional(std::move(columns));
}

std::optional<StepColumn> StepColumns::at(Step step, const IsLeftOut& isLeftOut)
{
    const auto column = static_cast<std::size_t>(step.value - m_steps.first.value);
    m_values.assign(m_rows, 0);
    m_states.assign(m_rows, CellState::NotCollected);
    bool isMeasured = false;
    for (const Channel& channel : m_channels) {
        for (std::size_t i = 0; i < channel.rows->size(); ++i) {
            const std::size_t at = i * static_cast<std::size_t>(channel.heat.columns) + column;
            if (isLeftOut && isLeftOut((*channel.rows)[i]))
                continue;
            m_values[(*channel.rows)[i]] = channel.heat.values[at];
            m_states[(*channel.rows)[i]] = channel.heat.states[at];
            isMeasured = isMeasured || channel.heat.states[at] >= CellState::Absent;
        }
    }
    if (!isMeasured)
        return {};
    m_large.clear();
    m_extra.clear();
    for (const Channel& channel : m_magnitudes)
        take(channel, column, isLeftOut, m_large);
    for (const Channel& channel : m_extras)
        take(channel, column, isLeftOut, m_extra);
    return StepColumn { step, m_values, m_states, m_large, m_extra };
}

void StepColumns::take(
    const Channel& channel, std::size_t column, const IsLeftOut& isLeftOut, std::vector<float>& into) const
{
    into.resize(m_rows, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < channel.rows->size(); ++i) {
        const std::size_t at = i * static_cast<std::size_t>(channel.heat.columns) + column;
        if (channel.heat.states[at] == CellState::Value && !(isLeftOut && isLeftOut((*channel.rows)[i])))
            into[(*channel.rows)[i]] = channel.heat.values[at];
    }
}

}
