// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <telltale/core/kinds.h>
#include <telltale/series/query.h>

namespace telltale::views {

class CsvWriter;

/// A kind as people read it ("gradient, reduced"); the field's own word stays in CSV and on the command line.
QString kindText(Kind kind);
/// A statistic as people read it ("NaN count"); CSV and the command line keep the field's own word.
QString statText(Stat stat);
/// A value of it, or a mean of some: a count has no decimals where it is exact, a share is percent,
/// and small and large ones have as many figures as all others: "1.000e-4".
QString statValueText(Stat stat, double value, int significant = 4);
/// Two CSV cells: the state in a plain word ("value", "nan", "gap", ...) and the value, NaN or Inf where that is what
/// was measured, empty where nothing was. `isFloat`: the value was stored as a float32.
void writeCell(CsvWriter& csv, series::CellState state, double value, bool isFloat);

}
