// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonfinitejump.h"

#include <optional>
#include <vector>

#include <telltale/analysis/nonfinite.h>
#include <telltale/common/passorder.h>
#include <telltale/items/guithread.h>
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

std::int64_t NonFiniteJump::incidentAt(Step step) const
{
    const items::IncidentsModel& incidents = *m_state->incidents();
    for (int row = 0; row < incidents.rowCount(); ++row) {
        const judge::Finding& first = incidents.incident(row).first;
        if (first.rule == "nonfinite" && first.step == step)
            return incidents.incident(row).id;
    }
    return 0;
}

void NonFiniteJump::go(bool forward)
{
    items::assertGuiThread();
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
    const std::vector<analysis::Quantity> quantities = views::quantitiesInPassOrder(*catalog);
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
                // Of several at one step, the incident knows which came first.
                if (const std::int64_t incident = incidentAt(onset->step)) {
                    m_state->goToIncident(incident);
                    return;
                }
                const series::SeriesKey& key = catalog->rows->key(*onset->row);
                m_state->goTo(onset->step);
                m_state->setRank(onset->row->rank);
                if (onset->row->kind != Kind::Scalar)
                    m_state->setKind(onset->row->kind);
                m_state->setSelection({ { QString::fromStdString(key.name), key.slot } });
            };
        });
}

}
