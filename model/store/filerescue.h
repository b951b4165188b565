// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/progress.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

/// A copy of a file that cannot be opened, in which what SQLite asks for first is put right: the end that a file that
/// was cut off lacks, and its first page. Thread: any, one at a time; blocks.
class FileRescue {
public:
    /// Copies into `copy`, which goes with this object.
    FileRescue(const std::string& path, std::string copy);
    FileRescue(const FileRescue&) = delete;
    FileRescue& operator=(const FileRescue&) = delete;
    ~FileRescue();

    /// Open for reading; what had to be done is added to `lost`. An error where it is no run all the same, or Canceled.
    Expected<Connection> open(std::vector<std::string>& lost, const Progress& progress = {});
    const std::string& copy() const { return m_copy; }

private:
    Expected<void> fillUp(std::vector<std::string>& lost) const;
    Expected<void> replaceHead() const;

    const std::string m_path;
    const std::string m_copy;
};

}
