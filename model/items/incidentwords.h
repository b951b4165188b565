// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>

#include <telltale/judge/incident.h>

namespace telltale::items {

/// What the log says of an incident in English, in the language of the window. A sentence is known by its form, so that
/// records of every age are read; one of a form that is not known here stays as it was recorded. Thread: any.
namespace incidentwords {

std::vector<const char*> forms(); ///< that are known, in English, with %1 where something else stands
QString seen(const judge::Finding& finding);
/// "layers.7.attn.qkv µ2" where it was not in the first micro step.
QString withMicroStep(const QString& place, const judge::Finding& finding);
QString place(const judge::Finding& finding); ///< "layers.7.attn.qkv:output", and its micro step
/// "step 7, rank 5"; `hasRank`: the sentence names one.
QString moment(const judge::Finding& finding, bool hasRank);
QString phaseText(judge::Phase phase); ///< in the words that the titles of kinds use
/// The sentence of its card.
QString card(const judge::Incident& incident);

}

}
