// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <telltale/archive/runprofile.h>
#include <telltale/core/expected.h>
#include <telltale/store/archive.h>

namespace telltale::archive {

/// Which runs are wanted: all conditions hold for each. In one line, as people type it, words of
///     NAME                  a NamePattern of the run's name
///     name:PATTERN tag:PATTERN note:PATTERN
///     folder:PATTERN        a NamePattern of the folder that it was put into
///     config:FIELD=VALUE    a hyperparameter or a value of the config; also != < <= > >=, or the field alone
///     incident:SEVERITY     has one of at least this (notice, warning, critical); incident: alone means any
///     state:STATE[,STATE]   live, finished, failed, interrupted, lost, damaged, newer
///     since:DATE until:DATE began then, see parseMoment()
/// Quotes keep spaces: tag:"first try". Thread: any (a value; one may be used by several threads at once).
class RunQuery {
public:
    /// The words in front of a colon that mean something.
    static constexpr std::array<std::string_view, 9> kFields { "name", "folder", "tag", "note", "config", "incident",
        "state", "since", "until" };

    static Expected<RunQuery> parse(std::string_view line, std::int64_t nowNs);
    /// One condition more; `field` is one of kFields.
    Expected<void> add(std::string_view field, std::string_view value, std::int64_t nowNs);

    bool matchesAll() const { return m_ofSummary.empty() && m_ofProfile.empty(); }
    bool needsProfile() const { return !m_ofProfile.empty(); }
    /// Whether it matches, as far as that can be known without its profile.
    bool mayMatch(const store::RunSummary& run) const;
    /// `profile` may be null: of a run that cannot be read nothing is known that would have to be read.
    bool matches(const store::RunSummary& run, const RunProfile* profile) const;

private:
    std::vector<std::function<bool(const store::RunSummary&)>> m_ofSummary;
    std::vector<std::function<bool(const RunProfile&)>> m_ofProfile;
};

}
