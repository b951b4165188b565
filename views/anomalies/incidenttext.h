// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include <QCoreApplication>
#include <QString>

#include <telltale/common/glyphs.h>
#include <telltale/judge/incident.h>

namespace telltale::views {

/// What the card of an incident says. Thread: gui.
struct IncidentText {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::IncidentText)
public:
    static constexpr int kMostEvidence = 4;

    QString sentence; ///< HTML
    std::vector<std::pair<glyphs::Severity, QString>> evidence; ///< without what the sentence says
    QString ties;
    QString notes;

    static IncidentText of(const judge::Incident& incident);
    static QString more(int count); ///< " and 3 more": what has no room
};

}
