// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankbox.h"

#include <QComboBox>
#include <QSignalBlocker>

#include "rowlist.h"
#include "viewstate.h"

namespace telltale::views {

void fillRankBox(QComboBox* box, const ViewState& state, Kind kind)
{
    const QSignalBlocker blocker(box);
    box->clear();
    if (const auto catalog = state.catalog()) {
        for (const Rank rank : ranksOf(*catalog, kind))
            box->addItem(QString::number(rank.value), rank.value);
    }
    box->setCurrentIndex(box->findData(state.rank().value));
    box->updateGeometry();
}

}
