// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include <QStringList>

#include <telltale/common/glyphs.h>
#include <telltale/judge/comparisonreport.h>
#include <telltale/judge/factsheet.h>

namespace telltale::views {

// What a comparison says, in the window's language. Thread: gui.

/// judge::Comparison::sentence(), for people.
QString comparisonSentence(const judge::Comparison& found);
/// "12 of 400 values of 96 series differ", and what was left out.
QStringList comparisonNotes(const judge::Comparison& found);
/// "in this map: step 52, head.weight" of what differs first of the kind, statistic and rank that a map shows. Empty
/// where that is what the sentence names.
QString firstOfMapText(const judge::Comparison& found, const judge::Deviation& one);
/// "of the modules shown: step 52, head.weight" of a map that a filter hides the first of; null: nothing differs.
QString firstOfShownText(const judge::Deviation* one);
/// How bad it is, as a sign.
glyphs::Severity severityOf(const judge::Deviation& one);
/// "22.3 %" of 0.2231: how far apart two values are, as a share of the larger one.
QString shareText(double share);
/// Both values of a deviation as the window writes numbers, with as many digits as tell them apart.
std::pair<QString, QString> deviationTexts(const judge::Deviation& one);
/// What a run has of a fact, with the words that are ours in the window's language.
QString factValueText(const judge::DifferingFact& fact, const std::string& value);
/// "Configuration" of "config".
QString factSectionText(const std::string& section);

}
