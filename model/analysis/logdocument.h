// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/analysis/rundocument.h>
#include <telltale/store/logrecord.h>

namespace telltale::analysis {

/// What a record says, in a line: a note with its steps, a loss with how many and where. Thread: any.
std::string textOf(const store::LogRecord& record);
/// {"time", "wall_ns", "step", "rank", "kind", "text", "data"}, and what few records say where one does: "last_step",
/// "rule", "phase", "cause", "author", "id", "ref", "rev". "data" is its own JSON, null where that cannot be read; a
/// loss has no time and stands at its first step, if that is known.
Json toJson(const store::LogRecord& record);

}
