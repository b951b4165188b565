// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace telltale::app {

// Each verb takes the words behind it, writes its report to `out` and its one-sentence error to `err`, and returns the
// exit code: 0 done, 1 the work failed, 2 wrong usage or bad input. Thread: any; they block.

/// `telltale runs`: the archive.
int runRuns(std::span<const std::string> args, std::ostream& out, std::ostream& err);
/// `telltale inspect`: what is in a capsule, and whether all of it can be read.
int runInspect(std::span<const std::string> args, std::ostream& out, std::ostream& err);
/// `telltale import`: what spools still hold, into their runs.
int runImport(std::span<const std::string> args, std::ostream& out, std::ostream& err);
/// `telltale log`: what happened in a run.
int runLog(std::span<const std::string> args, std::ostream& out, std::ostream& err);
/// `telltale show`: the stored values of a series.
int runShow(std::span<const std::string> args, std::ostream& out, std::ostream& err);

}
