// SPDX-License-Identifier: GPL-3.0-or-later
#include "selectionundo.h"

#include <utility>

#include <QScopedValueRollback>
#include <QUndoStack>

#include <telltale/items/guithread.h>

namespace telltale::shell {

namespace {

class SelectionChange : public QUndoCommand {
public:
    SelectionChange(SelectionUndo* owner, SelectionUndo::Selected before, SelectionUndo::Selected after)
        : m_owner(owner)
        , m_before(std::move(before))
        , m_after(std::move(after))
    {
    }
    void undo() override { m_owner->apply(m_before); }
    void redo() override { m_owner->apply(m_after); }

private:
    SelectionUndo* m_owner;
    SelectionUndo::Selected m_before;
    SelectionUndo::Selected m_after;
};

}

SelectionUndo::SelectionUndo(views::ViewState* state, QUndoStack* stack, QObject* parent)
    : QObject(parent)
    , m_state(state)
    , m_stack(stack)
{
    connect(state, &views::ViewState::selectionChanged, this, &SelectionUndo::takeSelection);
    connect(state, &views::ViewState::runChanged, this, [this] { m_stack->clear(); });
}

void SelectionUndo::apply(const Selected& selected)
{
    const QScopedValueRollback<bool> guard(m_isApplying, true);
    m_known = selected;
    m_state->setSelection(selected.keys, selected.omitted);
}

void SelectionUndo::takeSelection()
{
    items::assertGuiThread();
    if (m_isApplying)
        return;
    Selected now { m_state->selection(), m_state->omitted() };
    // Pushing does it again, which changes nothing any more.
    m_stack->push(new SelectionChange(this, std::exchange(m_known, now), now));
}

}
