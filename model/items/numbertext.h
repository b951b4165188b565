// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <telltale/core/ids.h>

namespace telltale::items {

/// Numbers as the design writes them, in every view, card and table: "31 215" with U+202F, U+2212 for minus, "1.28e-4"
/// outside 1e-3..99 999, "NaN", "+Inf". What is measured has four figures unless there is a reason for others. Thread:
/// any (constant).
QString formatStep(qint64 step);
QString formatSteps(StepRange steps); ///< "309", "309–312"
QString formatValue(double value, int significant = 4);
QString formatPower(double value, int significant = 4); ///< "1.5e-2", without zeros that say nothing; finite
QString formatFraction(double share, int significant = 4); ///< "12.34 %" of 0.1234
QString formatBytes(quint64 bytes); ///< "1.84 GB"
QString formatShort(double value); ///< "186 k", "2.1 M"
/// A number that a sentence in English has, "1.5e-07"; whatever is none is returned as it is.
QString reformatNumber(const QString& given);

}
