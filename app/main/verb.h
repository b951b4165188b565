// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "args.h"

namespace telltale::app {

class Report;

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1; ///< the work failed
inline constexpr int kExitUsage = 2; ///< wrong usage or bad input

/// One verb of `telltale`: a row. `telltale --help`, `telltale VERB --help`, the reading of the arguments and the call
/// are made from it.
struct Verb {
    std::string name; ///< "show"; empty: the desktop
    std::string summary; ///< for the list of verbs
    std::string about; ///< for its own help
    Words words;
    std::vector<Flag> flags; ///< --help, --log-level and --log-file are everybody's
    /// Does the work and returns the exit code. Thread: any, main for those that need Qt; blocks.
    int (*run)(const Args& args, Report& report);

    std::string synopsis() const; ///< "telltale show CAPSULE --series NAME [--rank R] [--json]"
    std::string help() const;
};

/// Reads the words behind a verb and runs it, or answers --help or wrong usage itself. What it reports goes to `out`,
/// its sentences to `err`. argc and argv are for the application object of the verbs that need Qt.
int runVerb(const Verb& verb, std::span<const std::string> words, std::ostream& out, std::ostream& err, int argc = 0,
    char** argv = nullptr);

}
