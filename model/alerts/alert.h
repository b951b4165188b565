// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <telltale/judge/incident.h>

namespace telltale::alerts {

/// An incident that somebody is told of. Thread: any (a value).
struct Alert {
    std::string runId; ///< as `telltale incidents` takes it
    std::string runName;
    std::string locator; ///< RunLocator::text() of the run
    std::int64_t wallNs = 0; ///< when it was found
    judge::Incident incident;
    bool isTest = false;

    /// What `telltale alerts test` and the window send.
    static Alert test(std::int64_t wallNs);

    std::string title() const; ///< "Telltale: critical in baseline"
    std::string line() const; ///< "critical: First abnormal: ...", where it is clear which run it is of
    std::string text() const; ///< a few lines for people; nothing in them moves a cursor or breaks a line
    std::string toJson() const; ///< for programs
    /// TELLTALE_ALERT_RUN and the like.
    std::vector<std::pair<std::string, std::string>> environment() const;
};

std::string_view severityWord(store::Severity severity);

}
