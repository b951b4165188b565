// SPDX-License-Identifier: GPL-3.0-or-later
#include "calmwords.h"

#include <algorithm>
#include <vector>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/comma.h>
#include <telltale/items/saidwords.h>

#include "lanes.h"

namespace telltale::views {

namespace {

QString stepsOf(StepRange steps)
{
    return formatStep(steps.first.value) + QChar(0x2013) + formatStep(steps.last.value);
}

}

CalmWords CalmWords::ofJudged(const std::vector<judge::Judged>& all, StepRange run, bool isLive)
{
    std::vector<StepRange> ranges;
    ranges.reserve(all.size());
    for (const judge::Judged& one : all)
        ranges.push_back(one.steps);
    joinRanges(ranges);
    const judge::Judged& last = all.back();
    const StepRange& end = ranges.back();
    CalmWords words { true, tr("Nothing is wrong up to step %1").arg(formatStep(end.last.value)), {} };
    words.text = tr("%1 rules looked at %2 tensors and scalars of %n ranks.", nullptr, static_cast<int>(last.ranks))
                     .arg(last.rules)
                     .arg(formatStep(static_cast<qint64>(last.rows)));
    // What lies between, before or behind was looked at by nobody.
    QStringList left;
    Step next = run.first;
    for (const StepRange& range : ranges) {
        if (next < range.first)
            left.append(stepsOf({ next, Step { range.first.value - 1 } }));
        next = Step { std::max(next.value, range.last.value + 1) };
    }
    if (!isLive && next <= run.last)
        left.append(stepsOf({ next, run.last }));
    if (!left.isEmpty())
        words.text = items::sentences(words.text, tr("Steps %1 were not judged.").arg(left.join(items::comma())));
    return words;
}

CalmWords CalmWords::ofDamaged(const ViewState& state)
{
    const bool hasJudged = !state.incidents()->judged().empty();
    return { false, hasJudged ? tr("Nothing is wrong in what can be read") : tr("No incident can be read"),
        tr("This run's file is damaged, and an incident may be among what is lost: %1")
            .arg(items::saidwords::inLanguage(state.damage())) };
}

CalmWords CalmWords::of(const ViewState& state)
{
    if (!state.run())
        return { false, tr("No run is shown"),
            tr("Open a run, or connect a training job, to see what goes wrong in it.") };
    if (!state.damage().isEmpty())
        return ofDamaged(state);
    if (!state.catalog() || state.fullRange().isEmpty())
        return { false, tr("Nothing was measured yet"), {} };
    const store::RunRef run = state.run();
    const bool isLive = run->isLive();
    if (!state.incidents()->judged().empty())
        return ofJudged(state.incidents()->judged(), state.ownRange(), isLive);
    if (isLive || !state.isLogRead() || !state.incidents()->isSettled())
        return { false, tr("Nothing has been judged yet"), {} };
    return { false, tr("Nobody has judged this run"),
        tr("A run is judged while it is recorded. This one came here in another way, or was recorded by an older "
           "Telltale: “telltale judge” says what is wrong with it.") };
}

}
