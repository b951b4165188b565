// SPDX-License-Identifier: GPL-3.0-or-later
#include "openingrank.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <telltale/common/rowlist.h>
#include <telltale/common/viewstate.h>
#include <telltale/store/runreader.h>

namespace telltale::shell {

namespace {

struct Search {
    std::vector<views::Row> rows;
    Stat stat;
};

std::optional<Rank> lowestNonFinite(
    store::RunReader& reader, const std::vector<Search>& searches, StepRange range, const series::CancelToken& cancel)
{
    constexpr std::int64_t kColumns = 64; // which steps does not matter, and coarse tiles know it
    std::optional<Rank> lowest;
    for (const Search& search : searches) {
        series::HeatQuery query;
        query.stat = search.stat;
        query.range = range;
        query.pixels = static_cast<int>(std::min(kColumns, range.count()));
        for (const views::Row& row : search.rows)
            query.rows.push_back(row.attempts);
        const auto found = query.rows.empty() ? Expected<series::HeatResult>() : reader.heatmap(query, cancel);
        if (!found)
            continue;
        for (std::size_t i = 0; i < found->states.size(); ++i) {
            const Rank rank = search.rows[i / static_cast<std::size_t>(found->columns)].rank;
            if (found->states[i] >= series::CellState::NegInf && (!lowest || rank < *lowest))
                lowest = rank;
        }
    }
    return lowest;
}

}

OpeningRank::OpeningRank(views::ViewState* state, store::QueryPool* queries, QObject* parent)
    : QObject(parent)
    , m_state(state)
    , m_queries(queries)
    , m_id(queries->newView())
{
    connect(state, &views::ViewState::runChanged, this, [this] {
        keep();
        m_wanted = true;
    });
    connect(state, &views::ViewState::catalogChanged, this, &OpeningRank::catalogChanged);
    connect(state, &views::ViewState::rankChanged, this, [this] {
        if (m_state->catalog()) // before, the run's own first rank is taken
            keep();
    });
}

OpeningRank::~OpeningRank()
{
    m_queries->cancel(m_id);
}

void OpeningRank::keep()
{
    m_wanted = false;
    m_queries->cancel(m_id);
}

void OpeningRank::catalogChanged()
{
    const auto catalog = m_state->catalog();
    const StepRange range = m_state->fullRange().isEmpty() && catalog ? catalog->steps : m_state->fullRange();
    if (!m_wanted || !catalog || catalog->groups.empty() || range.isEmpty() || !m_state->run())
        return;
    m_wanted = false;
    std::vector<Search> searches { { views::buildRows(*catalog, { m_state->kind(), {}, {}, {} }), m_state->stat() },
        { views::buildRows(*catalog, { Kind::Scalar, {}, {}, {} }), Stat::Value } };
    m_queries->submit(m_id, m_state->run(),
        [this, searches = std::move(searches), range](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            const auto rank = reader ? lowestNonFinite(**reader, searches, range, cancel) : std::optional<Rank>();
            if (!rank)
                return {};
            return [this, rank] { m_state->setRank(*rank); };
        });
}

}
