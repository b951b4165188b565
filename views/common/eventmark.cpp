// SPDX-License-Identifier: GPL-3.0-or-later
#include "eventmark.h"

namespace telltale::views {

std::optional<EventMark> EventMark::of(const store::LogRecord& record)
{
    std::optional<Shape> shape;
    if (record.kind == "config" || record.kind == "config_change")
        shape = Shape::Flag;
    else if (record.kind == "checkpoint")
        shape = Shape::Checkpoint;
    else if (record.kind == "restart")
        shape = Shape::Restart;
    if (!shape)
        return {};
    return EventMark { record.steps.first, *shape, QString::fromStdString(record.text), record.id };
}

}
