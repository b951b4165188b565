// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <telltale/judge/rankjudge.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// What is asked of a rank's rows, by statistic. Thread: owned by one.
struct Asked {
    struct Channel {
        std::vector<std::size_t> rows {}; ///< their places in the watchlist
        series::HeatQuery query {};
    };
    std::vector<Channel> values {}; ///< what they are judged by
    std::vector<Channel> extras {}; ///< what else
    std::vector<Channel> magnitudes {}; ///< of those whose magnitude is judged: one, or none

    /// Of the rows that are `wanted`; nothing: of all.
    static Asked of(const Watchlist& list, const std::function<bool(const Watched&)>& wanted = {});
};

/// What one source measured at some steps, read at once. `asked` must outlive it. Thread: any (a value).
class StepColumns {
public:
    /// Nothing where nothing is asked.
    static Expected<std::optional<StepColumns>> read(store::RunReader& reader, const Watchlist& list, Asked& asked,
        StepRange steps, const series::CancelToken& cancel);

    using IsLeftOut = std::function<bool(std::size_t row)>;

    const StepRange& steps() const { return m_steps; }
    /// The column of a step; nothing where nothing was measured, but for rows that are left out. Valid until the next.
    std::optional<StepColumn> at(Step step, const IsLeftOut& isLeftOut = {});

private:
    struct Channel {
        const std::vector<std::size_t>* rows = nullptr;
        series::HeatResult heat;
    };
    void take(const Channel& channel, std::size_t column, const IsLeftOut& isLeftOut, std::vector<float>& into) const;

    StepRange m_steps;
    std::size_t m_rows = 0;
    std::vector<Channel> m_channels;
    std::vector<Channel> m_extras;
    std::vector<Channel> m_magnitudes;
    std::vector<float> m_values, m_large, m_extra;
    std::vector<series::CellState> m_states;
};

}
