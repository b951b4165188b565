// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace telltale::store {

/// A table of a capsule. SQLite keeps the text of its CREATE as it was given, so that texts can be compared.
struct TableText {
    std::string_view name;
    const char* sql;
};

/// CREATE INDEX name ON table columns. What is read without one is the same, only later.
struct IndexText {
    std::string_view name;
    std::string_view table;
    std::string_view columns;
};

/// What a capsule of one format holds, and how it comes from and to others. Thread: any (constants).
struct CapsuleFormat {
    std::span<const TableText> tables;
    std::span<const IndexText> indexes;
    const char* upgrade = ""; ///< SQL that turns a file of the format before into one of this; none for format 1
    /// SQL of TEMP views by which readers see a file of this format as one of the newest, without writing to it; none
    /// for the newest.
    const char* view = "";
};

/// Every format that was ever released, from 1 on; the last one is written. The tables and upgrade of a released format
/// never change again: its files are everywhere. A new format adds an entry, and a view to each older one that lacks
/// what readers now ask for.
std::span<const CapsuleFormat> capsuleFormats();

}
