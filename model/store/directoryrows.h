// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <telltale/store/catalog.h>
#include <telltale/store/checkedrow.h>
#include <telltale/store/directoryreader.h>

namespace telltale::store {

// The rows of the directory's tables, and what they say of each other. For the directory reader alone. Thread: query.

/// What the rows of one table say about those of others, and what was read: what was added since the last time.
struct DirectoryReading {
    struct Group {
        SourceId source;
        Kind kind = Kind::Unspecified;
        std::size_t place = 0; ///< in the catalog that is read
        std::shared_ptr<const SeriesLayout> layout; ///< null where its own row cannot be read
        std::size_t firstPosition = 0;
        std::vector<bool> taken; ///< lanes
    };

    std::shared_ptr<Catalog> catalog = std::make_shared<Catalog>();
    std::size_t seriesCount = 0; ///< of the layouts
    std::map<std::int64_t, SourceId> sourceOfStream;
    std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const SeriesLayout>> layouts;
    std::unordered_map<GroupId, Group> groups; ///< new ones: a group is stored together with its series
    std::string mark; ///< see DirectoryReader::m_mark

    bool hasSource(SourceId id) const
    {
        return std::any_of(catalog->sources.begin(), catalog->sources.end(),
            [id](const SourceInfo& source) { return source.id == id; });
    }
};

/// A table of the directory. What is only appended to has its row's number in front, and asks for those behind ?1.
struct DirectoryPart {
    const char* what;
    const char* sql;
    void (*read)(CheckedRow&, DirectoryReading&);
    bool isAppended = false;
};

/// In the order in which they are read: each asks what those before it have read.
const std::array<DirectoryPart, DirectoryReader::kParts>& directoryParts();

}
