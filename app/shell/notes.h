// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>

#include <telltale/common/dataview.h>
#include <telltale/store/stepnote.h>

class QDialog;
class QUndoStack;

namespace telltale::shell {

class Toaster;

/// Writes notes at steps of the shown run, changes and removes them; all of it can be undone. They are in the run's
/// log: what is shown is what came back from there. Thread: gui.
class Notes : public QObject {
    Q_OBJECT
public:
    Notes(const views::ViewContext& context, QUndoStack* stack, Toaster* toaster, QWidget* window);

    /// Asks for a note between the marks A and B, else at the cursor, else at the step under the mouse.
    void ask();
    void askEdit(qint64 id);
    void remove(qint64 id);

    /// What a dialog or an undo comes to. `wallNs` tells a note that the log has not told of yet.
    void write(const store::StepNote& note);
    /// The note as the log has it, by when it was first written; null where it has not come back yet.
    const store::StepNote* find(const store::StepNote& note) const;

private:
    StepRange placeOf() const;
    void open(const store::StepNote& note);
    void change(const store::StepNote& before, const store::StepNote& after);

    views::ViewContext m_context;
    QUndoStack* m_stack;
    Toaster* m_toaster;
    QWidget* m_window;
    QPointer<QDialog> m_dialog;
};

}
