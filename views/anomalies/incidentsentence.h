// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

#include <QString>

#include <telltale/judge/incident.h>

class QFontMetrics;

/// What the card of an incident says, as it is shown there. Thread: gui.
namespace telltale::views::incidentsentence {

/// "First abnormal: <b>step 7, rank 5</b>, <code>layers.7</code>": the place that a sentence names, marked.
QString marked(const judge::Incident& incident);
/// Whether the sentence says what this finding does: that something is not finite, or what followed from that.
bool says(const judge::Incident& incident, const judge::Finding& finding);
/// What else was seen, with its kind where the sentence names a block alone or is `said`, what the first one says; the
/// norm that this names is not named again.
QString evidence(const judge::Finding& finding, std::string_view said = {});
/// Cut before a number that has no room: its first digits are another number.
QString elided(const QString& text, const QFontMetrics& metrics, int width);

}
