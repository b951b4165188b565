// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/config/runcheck.h>
#include <telltale/core/expected.h>
#include <telltale/store/runreader.h>

namespace telltale::analysis {

/// What a config for a run is held against, and the one that its training told last; "" and nothing where it told none.
struct ConfigFacts {
    config::RunFacts run;
    std::string text;
};
/// Thread: query.
Expected<ConfigFacts> configFactsOf(store::RunReader& reader);

}
