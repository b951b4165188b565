// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonfinitejump.h"

#include <algorithm>

namespace telltale::shell {

namespace {

constexpr std::int64_t kColumns = 512;

bool isNonFinite(series::CellState state)
{
    return state >= series::CellState::NegInf;
}

/// First row that begins to be non-finite in a column, -1 when none does.
int rowBeginning(const series::HeatResult& result, int column)
{
    for (int row = 0; row < result.rows; ++row) {
        const auto at = [&](int c) {
            return result.states[static_cast<std::size_t>(row) * static_cast<std::size_t>(result.columns)
                + static_cast<std::size_t>(c)];
        };
        if (isNonFinite(at(column)) && (column == 0 || !isNonFinite(at(column - 1))))
            return row;
    }
    return -1;
}

}

NonFiniteJump::NonFiniteJump(views::ViewState* state, store::QueryPool* queries, QObject* parent)
    : QObject(parent)
    , m_state(state)
    , m_queries(queries)
    , m_id(queries->newView())
{
}

NonFiniteJump::~NonFiniteJump()
{
    m_queries->cancel(m_id);
}

Expected<std::optional<Onset>> NonFiniteJump::find(store::RunReader& reader, const std::vector<views::Row>& rows,
    Stat stat, StepRange range, bool forward, const series::CancelToken& cancel)
{
    if (rows.empty() || range.count() < 2)
        return std::optional<Onset>();
    series::HeatQuery query;
    query.stat = stat;
    query.range = range;
    query.pixels = static_cast<int>(std::min(kColumns, range.count()));
    for (const views::Row& row : rows)
        query.rows.push_back(row.attempts);
    const auto found = reader.heatmap(query, cancel);
    if (!found)
        return tl::unexpected(found.error());
    const std::int64_t columns = found->columns;
    const bool exact = columns == range.count();
    for (std::int64_t i = 0; i < columns; ++i) {
        const std::int64_t column = forward ? i : columns - 1 - i;
        const int row = rowBeginning(*found, static_cast<int>(column));
        if (row < 0 || (exact && column == 0))
            continue;
        const std::int64_t first = range.first.value + (column * range.count() + columns - 1) / columns;
        if (exact) {
            const views::Row& one = rows[static_cast<std::size_t>(row)];
            return std::optional(Onset { Step { first }, one.rank, one.key });
        }
        const std::int64_t last = range.first.value + ((column + 1) * range.count() + columns - 1) / columns - 1;
        auto finer = find(
            reader, rows, stat, { Step { std::max(range.first.value, first - 1) }, Step { last } }, forward, cancel);
        if (!finer || *finer)
            return finer;
    }
    return std::optional<Onset>();
}

void NonFiniteJump::go(bool forward)
{
    const auto catalog = m_state->catalog();
    const StepRange full = m_state->fullRange();
    if (!catalog || full.isEmpty() || !m_state->run())
        return;
    // One step before the run: what is broken from the start begins at its first step.
    StepRange range { Step { full.first.value - 1 }, full.last };
    if (m_state->cursor() && forward)
        range.first = *m_state->cursor();
    else if (m_state->cursor())
        range.last = Step { m_state->cursor()->value - 1 };
    struct Search {
        std::vector<views::Row> rows;
        Stat stat;
    };
    std::vector<Search> searches { { views::buildRows(*catalog, { m_state->kind(), {}, {}, {} }), m_state->stat() },
        { views::buildRows(*catalog, { Kind::Scalar, {}, {}, {} }), Stat::Value } };
    m_queries->submit(m_id, m_state->run(),
        [this, searches = std::move(searches), range, forward](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            std::optional<Onset> best;
            for (const Search& search : searches) {
                if (!reader)
                    break; // the views say why a run cannot be read
                const auto onset = find(**reader, search.rows, search.stat, range, forward, cancel);
                if (!onset || !*onset)
                    continue;
                const bool nearer = !best || (forward ? (*onset)->step < best->step : (*onset)->step > best->step);
                if (nearer)
                    best = *onset;
            }
            return [this, best, forward] {
                if (best)
                    show(*best);
                else
                    Q_EMIT nothingFound(forward);
            };
        });
}

void NonFiniteJump::show(const Onset& onset)
{
    m_state->goTo(onset.step);
    m_state->setRank(onset.rank);
    m_state->setSelection({ onset.key });
}

}
