// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonfinitejump.h"

#include <array>
#include <optional>

#include <telltale/analysis/nonfinite.h>
#include <telltale/store/rowsof.h>

namespace telltale::shell {

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
    const std::array quantities { analysis::Quantity { m_state->kind(), m_state->stat() },
        analysis::Quantity { Kind::Scalar, Stat::Value } };
    m_queries->submit(m_id, m_state->run(),
        [this, catalog, quantities, range, forward](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            // The views say why a run cannot be read.
            const auto onset = reader
                ? analysis::findOnset(**reader, store::rowsOf(*catalog), quantities, range, forward, cancel)
                : std::nullopt;
            return [this, catalog, onset, forward] {
                if (!onset) {
                    Q_EMIT nothingFound(forward);
                    return;
                }
                const series::SeriesKey& key = catalog->rows->key(*onset->row);
                m_state->goTo(onset->step);
                m_state->setRank(onset->row->rank);
                m_state->setSelection({ { QString::fromStdString(key.name), QString::fromStdString(key.slot) } });
            };
        });
}

}
