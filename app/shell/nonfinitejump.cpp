// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonfinitejump.h"

#include <optional>

#include <telltale/items/guithread.h>

namespace telltale::shell {

NonFiniteJump::NonFiniteJump(views::ViewState* state, store::QueryPool* queries, QObject* parent)
    : QObject(parent)
    , m_state(state)
    , m_finder(state, queries, this)
{
    connect(state, &views::ViewState::catalogChanged, this, &NonFiniteJump::goFirst);
    connect(state, &views::ViewState::nonFiniteWanted, this, [this](StepRange steps) {
        m_finder.find({ Step { steps.first.value - 1 }, steps.last }, true, [this](const auto& onset) {
            if (onset)
                m_finder.goTo(*onset);
        });
    });
}

void NonFiniteJump::firstOf(const QString& id)
{
    m_wanted = id;
    goFirst();
}

void NonFiniteJump::goFirst()
{
    const store::RunRef& run = m_state->run();
    if (m_wanted.isEmpty() || !run || QString::fromStdString(run->id) != m_wanted || !m_state->catalog()
        || m_state->fullRange().isEmpty())
        return;
    m_wanted.clear();
    m_state->setCursor(std::nullopt);
    go(true);
}

void NonFiniteJump::go(bool forward)
{
    items::assertGuiThread();
    const StepRange full = m_state->fullRange();
    // One step before the run: what is broken from the start begins at its first step.
    StepRange range { Step { full.first.value - 1 }, full.last };
    if (full.isEmpty())
        return;
    if (m_state->cursor() && forward)
        range.first = *m_state->cursor();
    else if (m_state->cursor())
        range.last = Step { m_state->cursor()->value - 1 };
    m_finder.find(range, forward, [this, forward](const std::optional<views::FoundOnset>& onset) {
        if (onset)
            m_finder.goTo(*onset);
        else
            Q_EMIT nothingFound(forward);
    });
}

}
