// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verb.h"

namespace telltale::app {

/// What a shell loads to complete the verbs, their options and the ids of runs; empty where it is no shell that is
/// known: bash, zsh, fish.
std::string completionsFor(std::string_view shell, const std::vector<Verb>& verbs);

/// telltale(1) as troff: the desktop, and a section a verb.
std::string manualPage(const Verb& desktop, const std::vector<Verb>& verbs);

}
