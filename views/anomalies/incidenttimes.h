// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include <QCoreApplication>
#include <QString>

#include <telltale/judge/incident.h>
#include <telltale/store/catalog.h>
#include <telltale/store/runreader.h>

namespace telltale::views {

/// When an incident began and was last seen, by the clock of the training; 0 = not recorded. Thread: any (a value).
struct IncidentTimes {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::IncidentTimes)
public:
    std::int64_t beganNs = 0;
    std::int64_t lastNs = 0;
    std::optional<Step> runEnd = {}; ///< the last step of a run that is not recorded any more

    /// Thread: query. Cost: one row at two steps.
    static IncidentTimes read(store::RunReader& reader, const store::Catalog& catalog, const judge::Incident& incident);
    /// What its last finding says: it is quiet after long without one, in a run that is over after any step without.
    enum class Until { Open, Quiet, RunEnd };
    Until until(const judge::Incident& incident) const;
    /// "3 min ago, seen over 40 steps (12 s)"; without what is not known, or what the rule does not look at.
    QString words(const judge::Incident& incident, std::int64_t nowNs) const;
    /// "2026-11-23 20:03:11 UTC+01:00", of this machine; empty where it is not known.
    QString date() const;
    bool operator==(const IncidentTimes&) const = default;

private:
    static QString spanText(std::int64_t ns);
};

}
