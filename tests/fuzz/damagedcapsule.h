// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::fuzz {

/// A whole run, and what a fuzzer's bytes make of it: bytes of the file, cells and blobs of rows, rows that go. A blob
/// gets the checksum of what it became when the bytes ask for it, so that its decoder is reached. Thread: owned by one.
class DamagedCapsule {
public:
    /// The run at `path` with its -wal, which stay as they are; ends the program when they cannot be read.
    explicit DamagedCapsule(const std::string& path);

    /// The file's bytes after the damage that `program` describes.
    std::string damaged(std::string_view program) const;

private:
    struct Table {
        std::string name;
        std::string key; ///< what tells its rows apart
        std::vector<std::string> columns;
        int crc = -1; ///< the column that holds the checksum of another
        int data = -1; ///< that one
        int rows = 0;
    };
    std::string m_bytes;
    std::vector<Table> m_tables; ///< those with rows
};

}
