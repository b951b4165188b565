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
Verb showVerb();
Verb renderVerb();

/// Every verb with a name, in the order of `telltale --help`.
inline std::vector<Verb> namedVerbs()
{
    return { serveVerb(), demoVerb(), runsVerb(), inspectVerb(), importVerb(), logVerb(), showVerb(), renderVerb() };
}

}
