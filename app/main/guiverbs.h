// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>

#include "args.h"

namespace telltale::app {

// The verbs that need Qt. Each makes its own application object from argc and argv and returns the exit code. Thread:
// main.

/// `telltale [CAPSULE...]`: the desktop.
int runDesktop(int argc, char** argv, std::span<const std::string> words);
int runServe(int argc, char** argv, std::span<const std::string> words);
int runDemo(int argc, char** argv, std::span<const std::string> words);
int runRender(int argc, char** argv, std::span<const std::string> words);

/// "telltale: SENTENCE" on standard error.
void say(const std::string& sentence);
/// "telltale: SENTENCE" on standard error; exit 2.
int usageError(const Error& error);
/// The same; exit 1, or 2 when the error is bad input or names something that is not there.
int workError(const Error& error);
int printHelp(const Usage& usage);

}
