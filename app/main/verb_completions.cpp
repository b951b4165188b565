// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <ostream>

#include "helpdocs.h"
#include "report.h"

namespace telltale::app {
namespace {

int runCompletions(const Args& args, Report& report)
{
    const std::string& shell = args.positionals().front();
    const std::string text
        = shell == "man" ? manualPage(desktopVerb(), namedVerbs()) : completionsFor(shell, namedVerbs());
    if (text.empty())
        return report.failUsage(
            { ErrorCode::BadInput, "there are no completions for '" + shell + "'", "say bash, zsh, fish or man" });
    report.out() << text;
    return kExitDone;
}

}

Verb completionsVerb()
{
    return { "completions", "what a shell completes these verbs with, and the manual page",
        "Writes what a shell loads to complete verbs, options and the ids of runs: bash, zsh or fish; or, for 'man', "
        "the\n"
        "manual page. Packages have them installed. By hand, for bash: eval \"$(telltale completions bash)\"",
        { "SHELL", 1, 1 }, {}, runCompletions };
}

}
