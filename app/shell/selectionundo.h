// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <telltale/common/viewstate.h>

class QUndoStack;

namespace telltale::shell {

/// Puts every change of the selection on the undo stack, so that none is ever lost to a click. What is on the stack is
/// about one run: another one empties it. Thread: gui.
class SelectionUndo : public QObject {
    Q_OBJECT
public:
    struct Selected {
        std::vector<views::ModuleKey> keys;
        std::vector<views::ModuleKey> omitted;
    };

    SelectionUndo(views::ViewState* state, QUndoStack* stack, QObject* parent);

    void apply(const Selected& selected);

private:
    void takeSelection();

    views::ViewState* m_state;
    QUndoStack* m_stack;
    Selected m_known;
    bool m_isApplying = false;
};

}
