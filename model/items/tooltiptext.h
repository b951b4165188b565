// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace telltale::items {

/// Text from outside as one line that stands beside others: what would turn their letters around or end the line is
/// written as in JSON. Thread: any.
QString lineText(const QString& plain);

/// Text from outside for a tooltip, or for whatever else guesses whether its text is HTML: shown letter by letter, its
/// line ends kept. Thread: any.
QString toolTipText(const QString& plain);

}
