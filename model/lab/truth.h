// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/judge/incident.h>

namespace telltale::store {
class RunReader;
}

namespace telltale::lab {

/// What people said of a run: its labeled incidents, and whether all else that is found in it is a false alarm.
/// Thread: any (a value).
struct Truth {
    std::vector<judge::Incident> labeled; ///< in the order of causes
    bool isClean = false; ///< nothing is wrong with it but what is labeled so

    int count(judge::Incident::Label label) const;
};
/// Reads the run's log.
Expected<Truth> truthOf(store::RunReader& reader);

/// For StoreService::append: says that a run is clean, or takes that back.
Event cleanEvent(bool isClean, Step step, std::string author, std::int64_t wallNs);

}
