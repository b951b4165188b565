// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "verb.h"

namespace telltale::app {

Verb desktopVerb();
Verb serveVerb();
Verb demoVerb();
Verb runsVerb();
Verb inspectVerb();
Verb importVerb();
Verb logVerb();
Verb noteVerb();
Verb incidentsVerb();
Verb judgeVerb();
Verb compareVerb();
Verb exportVerb();
Verb rulesVerb();
Verb alertsVerb();
Verb alertsTestVerb();
Verb configCheckVerb();
Verb showVerb();
Verb renderVerb();
Verb reportVerb();
Verb configShowVerb();
Verb configPushVerb();
Verb configSetVerb();
Verb configHistoryVerb();
Verb repairVerb();
Verb thinVerb();
Verb deleteVerb();
Verb moveVerb();
Verb foldersVerb();
Verb restoreVerb();
Verb pinVerb();
Verb unpinVerb();
Verb retainVerb();
Verb completionsVerb();

/// Every verb with a name, in the order of `telltale --help`.
inline std::vector<Verb> namedVerbs()
{
    return { serveVerb(), demoVerb(), runsVerb(), inspectVerb(), importVerb(), repairVerb(), thinVerb(), moveVerb(),
        foldersVerb(), deleteVerb(), restoreVerb(), pinVerb(), unpinVerb(), retainVerb(), logVerb(), noteVerb(),
        incidentsVerb(), judgeVerb(), compareVerb(), exportVerb(), rulesVerb(), alertsTestVerb(), alertsVerb(),
        showVerb(), renderVerb(), reportVerb(), configCheckVerb(), configShowVerb(), configPushVerb(), configSetVerb(),
        configHistoryVerb(), completionsVerb() };
}

}
