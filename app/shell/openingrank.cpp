// SPDX-License-Identifier: GPL-3.0-or-later
#include "openingrank.h"

#include <array>
#include <optional>

#include <telltale/analysis/nonfinite.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/store/rowsof.h>

namespace telltale::shell {

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
    items::assertGuiThread();
    m_wanted = false;
    m_queries->cancel(m_id);
}

void OpeningRank::catalogChanged()
{
    items::assertGuiThread();
    const auto catalog = m_state->catalog();
    const StepRange range = m_state->fullRange().isEmpty() && catalog ? catalog->steps : m_state->fullRange();
    if (!m_wanted || !catalog || catalog->groups.empty() || range.isEmpty() || !m_state->run())
        return;
    m_wanted = false;
    const std::array quantities { analysis::Quantity { m_state->kind(), m_state->stat() },
        analysis::Quantity { Kind::Scalar, Stat::Value } };
    m_queries->submit(m_id, m_state->run(),
        [this, catalog, quantities, range](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            const auto rank = reader
                ? analysis::lowestNonFiniteRank(**reader, store::rowsOf(*catalog), quantities, range, cancel)
                : std::nullopt;
            if (!rank)
                return {};
            return [this, rank] { m_state->setRank(*rank); };
        });
}

}
