// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace telltale::views {

QString formatMilliseconds(double ms); ///< "0.9 ms", "186 ms", "12.4 s"
QString formatShare(double share); ///< "0.5 %", "< 0.1 %"
QString formatPercent(double percent); ///< as somebody gave it: "2 %", "0.25 %"
QString formatEvery(qint64 every); ///< "every 4th step"; of an even number

}
