// SPDX-License-Identifier: GPL-3.0-or-later
#include "notes.h"

#include <algorithm>

#include <QDateTime>
#include <QUndoStack>

#include <telltale/common/annotator.h>
#include <telltale/common/notepainter.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>

#include "notedialog.h"
#include "toaster.h"

namespace telltale::shell {

using store::StepNote;

namespace {

class NoteChange : public QUndoCommand {
public:
    NoteChange(Notes* notes, StepNote before, StepNote after)
        : m_notes(notes)
        , m_before(std::move(before))
        , m_after(std::move(after))
    {
    }
    void undo() override { m_notes->write(m_before); }
    void redo() override { m_notes->write(m_after); }

private:
    Notes* m_notes;
    StepNote m_before;
    StepNote m_after;
};

}

Notes::Notes(const views::ViewContext& context, QUndoStack* stack, Toaster* toaster, QWidget* window)
    : QObject(window)
    , m_context(context)
    , m_stack(stack)
    , m_toaster(toaster)
    , m_window(window)
{
    connect(context.state, &views::ViewState::noteWanted, this, &Notes::askEdit);
}

StepRange Notes::placeOf() const
{
    const views::ViewState& state = *m_context.state;
    if (state.markA() && state.markB())
        return { std::min(*state.markA(), *state.markB()), std::max(*state.markA(), *state.markB()) };
    const auto at = state.cursor() ? state.cursor() : state.hover();
    return at ? StepRange { *at, *at } : StepRange {};
}

void Notes::ask()
{
    items::assertGuiThread();
    StepNote note;
    note.steps = placeOf();
    if (const QString why = m_context.annotator->whyNot(m_context.state->run()); !why.isEmpty())
        m_toaster->postOfRun(Toaster::Severity::Notice, why);
    else if (note.steps.isEmpty())
        m_toaster->post(
            Toaster::Severity::Notice, tr("A note stands at a step: click into a plot, or set A and B for a range"));
    else
        open(note);
}

void Notes::askEdit(qint64 id)
{
    items::assertGuiThread();
    if (const StepNote* note = m_context.state->note(id); note && !note->isRemoved)
        open(*note);
}

void Notes::open(const StepNote& note)
{
    delete m_dialog;
    auto* dialog = new NoteDialog(note, m_context.annotator->whyNot(m_context.state->run()), m_window);
    m_dialog = dialog;
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &NoteDialog::removeWanted, this, [this, id = note.id] { remove(id); });
    connect(dialog, &QDialog::accepted, this, [this, dialog, note] {
        StepNote after = note;
        after.text = dialog->text().toStdString();
        if (note.id == 0) { // undone, it is one that was removed
            after.wallNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
            StepNote before = after;
            before.isRemoved = true;
            change(before, after);
        } else if (after.text != note.text) {
            change(note, after);
        }
    });
    dialog->open();
}

void Notes::remove(qint64 id)
{
    const StepNote* note = m_context.state->note(id);
    if (!note || note->isRemoved)
        return;
    StepNote after = *note;
    after.isRemoved = true;
    change(*note, after);
    m_toaster->postOfRun(Toaster::Severity::Notice, tr("The note at %1 is removed").arg(views::noteWhere(after.steps)),
        tr("Undo"), [stack = QPointer(m_stack)] {
            if (stack)
                stack->undo();
        });
}

void Notes::change(const StepNote& before, const StepNote& after)
{
    m_stack->push(new NoteChange(this, before, after));
}

const StepNote* Notes::find(const StepNote& note) const
{
    const auto& known = m_context.state->notes();
    const auto at = std::find_if(known.begin(), known.end(),
        [&](const StepNote& one) { return note.id != 0 ? one.id == note.id : one.wallNs == note.wallNs; });
    return at == known.end() ? nullptr : &*at;
}

void Notes::write(const StepNote& note)
{
    StepNote wanted = note;
    if (const StepNote* known = find(note)) {
        wanted.id = known->id;
        wanted.wallNs = 0; // a change is of now
    }
    if (wanted.id == 0 && wanted.isRemoved)
        return; // it was never written
    m_context.annotator->append(m_context.state->run(), wanted.event());
}

}
