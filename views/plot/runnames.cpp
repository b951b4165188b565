// SPDX-License-Identifier: GPL-3.0-or-later
#include "runnames.h"

#include <telltale/common/viewstate.h>

namespace telltale::views {

QStringList runNames(const ViewState& state)
{
    QStringList names;
    for (std::size_t run = 0; run <= state.comparedRuns().size(); ++run)
        names.append(state.runName(run));
    return names;
}

QStringList briefRunNames(const QStringList& names)
{
    QStringList ids;
    for (const QString& name : names) {
        const qsizetype id = name.lastIndexOf(QLatin1String(" #"));
        if (id < 0 || name.left(id) != names.front().left(id))
            return names;
        ids.append(name.mid(id + 1));
    }
    return ids;
}

}
