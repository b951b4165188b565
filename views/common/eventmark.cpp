// SPDX-License-Identifier: GPL-3.0-or-later
#include "eventmark.h"

#include <QCoreApplication>

#include <telltale/items/saidwords.h>
#include <telltale/judge/rulesinforce.h>
#include <telltale/store/confighistory.h>

namespace telltale::views {

std::optional<EventMark> EventMark::of(const store::LogRecord& record)
{
    std::optional<Shape> shape;
    const bool isRules = record.kind == judge::kRulesRecord && record.rank.value < 0; // agents write of their rank
    if (isRules || record.kind == "config" || record.kind == "config_change")
        shape = Shape::Flag;
    else if (record.kind == "checkpoint")
        shape = Shape::Checkpoint;
    else if (record.kind == "restart")
        shape = Shape::Restart;
    if (!shape)
        return {};
    if (isRules)
        return EventMark { record.steps.first, *shape,
            QCoreApplication::translate("telltale::views::EventMark", "rules"), record.id };
    // A revision is marked where ranks began to run it; that it was offered, put off or refused changed nothing there.
    if (record.kind == "config" && record.rev > 0) {
        if (record.phase != store::configphase::kApplied)
            return {};
        return EventMark { record.steps.first, *shape,
            QCoreApplication::translate("telltale::views::EventMark", "rev %1").arg(record.rev), record.id,
            record.rev };
    }
    // Agents write what happened, a colon, and why.
    const QString text = QString::fromStdString(record.text);
    const qsizetype why = text.indexOf(QLatin1String(": "));
    if (*shape == Shape::Flag && why < 0 && !text.isEmpty()) // that another is in force from here on a flag says
        return EventMark { record.steps.first, *shape,
            QCoreApplication::translate("telltale::views::EventMark", "config"), record.id };
    return EventMark { record.steps.first, *shape, items::saidwords::inLanguage(text), record.id, 0,
        why < 0 ? QString() : items::saidwords::inLanguage(text.left(why)) };
}

EventMark EventMark::of(const judge::Incident& incident)
{
    const auto shape = static_cast<Shape>(static_cast<int>(Shape::Notice) + static_cast<int>(incident.first.severity));
    return { incident.first.step, shape, {}, incident.id };
}

}
