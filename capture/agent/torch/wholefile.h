// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/core/expected.h>

namespace telltale {

/// A file that is whole at any moment, whoever dies. Thread: any, but none that must not wait for a disk.
Expected<std::string> textOf(const std::string& path);
/// Puts `text` in the place of `before`, and on the disk; isDone: whether the file says it now. What says something
/// else by then stays, which is no error.
Expected<void> replaceText(const std::string& path, const std::string& before, const std::string& text, bool& isDone);
/// Takes away what writers of this file left beside it that were killed: those of this machine that are gone, and any
/// that is older than a writer can be.
void removeLeftovers(const std::string& path);

}
