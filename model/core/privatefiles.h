// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include <telltale/core/expected.h>

namespace telltale {

/// What a training says of itself is for its owner alone: folders are 0700 and files 0600, whatever the umask is and
/// whoever made them. Thread: any.

/// Makes the folder and the missing ones above it, for the owner alone; one that was there is left as it is.
Expected<void> makePrivateFolder(const std::string& path);
/// Takes everybody else's rights from a file or folder of ours. Not through a link, and not where it belongs to another
/// user: then nothing happens.
void keepPrivate(const std::string& path);
/// An empty file for the owner alone, where there is none.
Expected<void> makePrivateFile(const std::string& path);
/// The file with this text in it: the old one or the new one, whatever happens meanwhile.
Expected<void> replacePrivateFile(const std::string& path, std::string_view text);
/// Waits until the disk has a file, or the names in a folder.
Expected<void> makeDurable(const std::string& path);
/// What errno says of a call on a file, as a sentence: "cannot make PATH (...)".
tl::unexpected<Error> fileError(const char* verb, const std::string& path);

}
