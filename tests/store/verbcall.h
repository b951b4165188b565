// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "verbs.h"

namespace telltale::test {

/// What a verb said and how it ended.
struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
    nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

using Verb = app::Verb (*)();

inline Outcome call(Verb verb, const std::vector<std::string>& words)
{
    std::ostringstream out;
    std::ostringstream err;
    const int code = app::runVerb(verb(), words, out, err);
    return { code, out.str(), err.str() };
}

}
