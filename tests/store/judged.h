// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <QTemporaryDir>

#include <telltale/judge/runjudge.h>
#include <telltale/store/archive.h>

#include "madeuptraining.h"

namespace telltale::test {

/// What is found in a capsule that holds the training.
inline std::vector<judge::Incident> incidentsOf(const Training& training, const judge::Rules& rules = {})
{
    const QTemporaryDir dir;
    CapsuleBuilder builder(dir.path().toStdString() + "/run.telltale");
    training.write(builder);
    builder.finish();
    const auto reader = CapsuleBuilder::must(store::openReader(builder.handle()));
    judge::RunJudge judge(rules);
    CapsuleBuilder::must(judge.judgeAll(*reader));
    return judge.incidents();
}

inline std::string placeOf(const judge::Incident& incident)
{
    const judge::Finding& first = incident.first;
    return first.name + (first.slot.empty() ? "" : ':' + first.slot) + '@' + std::to_string(first.step.value) + '/'
        + std::to_string(first.rank.value);
}

/// "rule place; ..." of all.
inline std::string summary(const std::vector<judge::Incident>& incidents)
{
    std::string text;
    for (const judge::Incident& incident : incidents)
        text += (text.empty() ? "" : "; ") + incident.first.rule + ' ' + placeOf(incident);
    return text;
}

}
