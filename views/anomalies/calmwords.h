// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QCoreApplication>
#include <QString>

#include <telltale/judge/incident.h>

namespace telltale::views {

class ViewState;

/// What is said of a run without incidents: how far the judge has looked, or why it has not. Thread: gui.
struct CalmWords {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::CalmWords)
public:
    bool isJudged = false; ///< something was looked at
    QString title;
    QString text; ///< may be empty

    static CalmWords of(const ViewState& state);

private:
    static CalmWords ofDamaged(const ViewState& state);
    static CalmWords ofJudged(const std::vector<judge::Judged>& all, StepRange run, bool isLive);
};

}
