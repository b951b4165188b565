// SPDX-License-Identifier: GPL-3.0-or-later
#include "onsetfinder.h"

#include <utility>
#include <vector>

#include <telltale/analysis/nonfinite.h>
#include <telltale/items/guithread.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/store/rowsof.h>

#include "passorder.h"

namespace telltale::views {

OnsetFinder::OnsetFinder(ViewState* state, store::QueryPool* queries, QObject* parent)
    : QObject(parent)
    , m_state(state)
    , m_queries(queries)
    , m_id(queries ? queries->newView() : 0)
{
}

OnsetFinder::~OnsetFinder()
{
    if (m_queries)
        m_queries->cancel(m_id);
}

const judge::Incident* OnsetFinder::incidentAt(Step step) const
{
    const items::IncidentsModel& incidents = *m_state->incidents();
    for (int row = 0; row < incidents.rowCount(); ++row) {
        const judge::Finding& first = incidents.incident(row).first;
        if (first.rule == "nonfinite" && first.step == step)
            return &incidents.incident(row);
    }
    return nullptr;
}

FoundOnset OnsetFinder::known(FoundOnset onset) const
{
    if (const judge::Incident* incident = incidentAt(onset.step)) {
        onset.rank = incident->first.rank;
        onset.kind = incident->first.kind;
        onset.key = m_state->keyOf(incident->first);
    }
    return onset;
}

void OnsetFinder::find(StepRange range, bool forward, Found found)
{
    items::assertGuiThread();
    const auto catalog = m_state->catalog();
    if (!catalog || !m_queries || !m_state->run() || range.isEmpty())
        return;
    const std::vector<analysis::Quantity> quantities = quantitiesInPassOrder(*catalog);
    m_queries->submit(m_id, m_state->run(),
        [this, catalog, quantities, range, forward, found = std::move(found)](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            // The views say why a run cannot be read.
            const auto onset = reader
                ? analysis::findOnset(**reader, store::rowsOf(*catalog), quantities, range, forward, cancel)
                : std::nullopt;
            std::optional<FoundOnset> answer;
            if (onset) {
                const series::SeriesKey& key = catalog->rows->key(*onset->row);
                answer = FoundOnset { onset->step, onset->row->rank, onset->row->kind,
                    { QString::fromStdString(key.name), key.slot } };
            }
            return [found, answer] { found(answer); };
        });
}

void OnsetFinder::goTo(const FoundOnset& onset)
{
    if (const judge::Incident* incident = incidentAt(onset.step)) {
        m_state->goToIncident(incident->id);
        return;
    }
    m_state->goTo(onset.step);
    m_state->setRank(onset.rank);
    if (onset.kind != Kind::Scalar)
        m_state->setKind(onset.kind);
    m_state->setSelection({ onset.key });
}

}
