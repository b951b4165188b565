// SPDX-License-Identifier: GPL-3.0-or-later
#include "onerunnote.h"

#include <QCoreApplication>

#include <telltale/items/tooltiptext.h>

#include "viewbar.h"
#include "viewstate.h"

namespace telltale::views {

void addOneRunNote(ViewBar* bar, const ViewState* state)
{
    QLabel* note = bar->addCaption(true);
    note->setObjectName(QStringLiteral("oneRunNote"));
    const auto fill = [note, state] {
        const auto runs = static_cast<int>(state->comparedRuns().size()) + 1;
        const bool isOneOfMany = state->run() && runs > 1;
        note->setText(
            isOneOfMany ? QCoreApplication::translate("OneRunNote", "one of %n runs", nullptr, runs) : QString());
        note->setToolTip(isOneOfMany ? items::toolTipText(QCoreApplication::translate(
                             "OneRunNote", "Of the compared runs this view shows “%1” alone.")
                                                              .arg(state->runName(0)))
                                     : QString());
        note->setVisible(isOneOfMany); // the bar is told, and looks whether there is room
    };
    QObject::connect(state, &ViewState::comparedChanged, note, fill);
    QObject::connect(state, &ViewState::runChanged, note, fill);
    fill();
}

}
