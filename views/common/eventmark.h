// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QString>

#include <telltale/judge/incident.h>
#include <telltale/store/logrecord.h>

namespace telltale::views {

/// Something that happened to the run at a step: a config revision, other rules, a checkpoint, a restart, an incident.
/// Thread: any (a value).
struct EventMark {
    enum class Shape { Flag, Checkpoint, Restart, Notice, Warning, Critical };
    Step step;
    Shape shape = Shape::Flag;
    QString label;
    std::int64_t record = 0; ///< its id
    std::int64_t rev = 0; ///< of the config that ranks run from here on; 0 = something else happened
    QString brief = {}; ///< the label without its reason, where it has one

    /// Nothing for what is not marked on an axis.
    static std::optional<EventMark> of(const store::LogRecord& record);
    static EventMark of(const judge::Incident& incident);
    bool isIncident() const { return shape >= Shape::Notice; }
    bool operator==(const EventMark&) const = default;
};

}
