// SPDX-License-Identifier: GPL-3.0-or-later
#include "rangebox.h"

#include <QComboBox>
#include <QCoreApplication>

#include "theme.h"
#include "viewbar.h"
#include "viewstate.h"

namespace telltale::views {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::RangeBox)
};

/// The item that says what is seen; -1 for none.
int shownItem(const QComboBox& box, const ViewState& state)
{
    const StepRange seen = state.visibleRange();
    const StepRange full = state.fullRange();
    for (int i = 0; i < box.count(); ++i) {
        const qint64 steps = box.itemData(i).toLongLong();
        const bool isWhole = seen == full && (!state.isFollowing() || state.followSpan() == 0);
        const bool isNewest
            = seen.last == full.last && (seen.count() == steps || (state.isFollowing() && state.followSpan() == steps));
        if (steps == 0 ? isWhole : isNewest)
            return i;
    }
    return -1;
}

}

void addRangeBox(ViewBar* bar, const QString& label, const QString& objectName, ViewState* state)
{
    QComboBox* box = bar->addCombo(label, objectName);
    box->setPlaceholderText(Words::tr("zoomed"));
    box->addItem(Words::tr("whole run"), 0);
    for (const int steps : { 100, 1000, 10000 })
        box->addItem(Words::tr("last %1").arg(formatStep(steps)), steps);
    const auto update = [box, state] { box->setCurrentIndex(shownItem(*box, *state)); };
    QObject::connect(box, &QComboBox::activated, state, [box, state, update] {
        const int steps = box->currentData().toInt();
        state->setFollowing(true);
        state->setFollowSpan(steps);
        update();
    });
    for (const auto signal :
        { &ViewState::visibleRangeChanged, &ViewState::fullRangeChanged, &ViewState::followingChanged })
        QObject::connect(state, signal, box, update);
    update();
}

}
