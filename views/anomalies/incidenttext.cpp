// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidenttext.h"

#include <algorithm>

#include <QStringList>

#include <telltale/items/comma.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/shownname.h>
#include <telltale/items/tooltiptext.h>

#include "incidentreach.h"
#include "incidentsentence.h"

namespace telltale::views {

QString IncidentText::more(int count)
{
    return tr(" and %n more", nullptr, count);
}

IncidentText IncidentText::of(const judge::Incident& incident)
{
    constexpr qsizetype kMostTies = 6;
    IncidentText text;
    // Lines break at the narrow space between the digits of a number, and never at this one.
    text.sentence = incidentsentence::marked(incident).replace(QChar(0x202F), QChar(0x00A0));
    for (const judge::Finding& seen : incident.evidence) {
        if (text.evidence.size() == kMostEvidence || incidentsentence::says(incident, seen))
            continue;
        const bool isOfRanks = seen.rule == "ranks" && !incident.reach.empty();
        text.evidence.emplace_back(glyphs::severityOf(seen.severity),
            isOfRanks ? tr("%1 by step %2")
                            .arg(incidentsentence::evidence(seen),
                                items::formatStep(IncidentReach::reachedBy(incident).value))
                      : incidentsentence::evidence(seen, incident.first.sentence));
    }
    QStringList ties;
    for (const std::string& tie : incident.ties)
        ties.append(items::lineText(items::shownName(QString::fromStdString(tie))));
    if (!ties.isEmpty())
        text.ties = tr("Abnormal at the same moment, so which came first is not known: %1")
                        .arg(ties.mid(0, kMostTies).join(items::comma()))
            + (ties.size() > kMostTies ? more(static_cast<int>(ties.size() - kMostTies)) : QString());
    QStringList notes;
    for (const std::string& note : incident.notes)
        notes.append(tr("Note: %1").arg(QString::fromStdString(note)));
    text.notes = notes.join(u'\n');
    return text;
}

}
