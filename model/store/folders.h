// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/runlocator.h>

namespace telltale::store {

// Where runs lie: in folders of the data directory that people make for them, and in folders elsewhere, such as a
// colleague's or one on the network, whose runs are listed and read and never written. Thread: any; they block.

/// "llama/ablation" of what a person names a folder; empty for the top ("/" or "."). BadInput for what would lead out
/// of the data directory or would not be listed.
Expected<std::string> folderName(std::string_view word);
/// The folder of a run of the data directory, as folderName() has it.
std::string folderOf(const std::string& dataDir, const std::string& capsulePath);
/// Moves a run of the data directory into one of its folders, which is made where it is missing; a folder that is
/// empty then goes. Busy while it is recorded.
Expected<RunLocator> moveRun(const std::string& dataDir, const RunLocator& run, const std::string& folder);

/// The folders elsewhere that a data directory lists, as absolute paths.
std::vector<std::string> foldersElsewhere(const std::string& dataDir);
/// BadInput for one that is no folder, or that has to do with the data directory itself.
Expected<void> addFolderElsewhere(const std::string& dataDir, const std::string& folder);
Expected<void> removeFolderElsewhere(const std::string& dataDir, const std::string& folder);
/// BadInput where the run lies in one of them: nobody writes there.
Expected<void> checkIsOurs(const std::string& dataDir, const RunLocator& run);

}
