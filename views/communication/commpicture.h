// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QString>
#include <QStringList>

#include <telltale/common/viewstate.h>
#include <telltale/heatmap/heatquery.h>
#include <telltale/series/query.h>
#include <telltale/store/runreader.h>

namespace telltale::views {

/// What a call site moved in a step, by the scalars that agents send of it ("telltale.comm.bytes/NAME").
enum class CommMetric { Calls, Bytes, Seconds, BeginNs, EndNs };
inline constexpr std::size_t kCommMetrics = 5;
/// "telltale.comm.bytes/all_reduce (train.py[55] main)".
std::string commMetricName(CommMetric metric, const QString& site);

/// What a number of it is, "ms in calls": a legend's title, and what follows a value.
QString commMetricText(CommMetric metric);

/// What an agent says once of a call site.
struct CommSite {
    QString name; ///< "all_reduce (train.py[55] main)", as its series are called
    QString op; ///< "all_reduce"
    QString place; ///< "train.py:55"
    QString function; ///< "main"
    QStringList stack; ///< "path[line]   function", innermost first; empty: not told
    QStringList dtypes;
    QStringList groups; ///< "0 (4 ranks)"
    /// "train.py:55 main"; of a site that says no place, its name.
    QString call() const { return place.isEmpty() ? name : place + u' ' + function; }
    QString shortCall() const { return place.isEmpty() ? name : place; } ///< what it is called outside of the table
};

/// One call site in one step.
struct CommRow {
    CommSite site;
    ModuleKey key; ///< the tensor of it that views show: its first result, else its first input
    series::CellValue before; ///< the statistic of its first argument; of any argument that is not finite, that
    series::CellValue after;
    std::array<series::CellValue, kCommMetrics> metrics;
    const series::CellValue& metric(CommMetric metric) const { return metrics[static_cast<std::size_t>(metric)]; }
    /// The strongest of before and after.
    series::CellState state() const { return std::max(before.state, after.state); }
};

/// The collectives of one rank at one step. Immutable once built. Thread: any (a value).
struct CommPicture {
    Rank rank;
    Step atStep { 0 }; ///< that was asked for
    std::optional<Step> step; ///< the newest one until then that has collectives; none: they carry no counts
    Stat stat = Stat::Norm;
    std::vector<CommRow> rows; ///< in the order in which the sites were first called
    double beginNs = 0; ///< of the step, Unix time; 0: not known
    double endNs = 0;
    QString times; ///< in the agent's words, what a time is
    bool hasTimes() const;
};

/// A name of a series as its parts: what is known of a site that no agent described.
CommSite siteOfName(const QString& name);
/// What agents send of their call sites; by name. `times`: what a time means.
std::vector<CommSite> readSites(const std::string& json, QString* times);

/// What the heat strip below the table shows of all sites over the steps.
struct CommRequest {
    std::shared_ptr<const store::Catalog> catalog;
    Rank rank;
    Stat stat = Stat::Norm;
    QString filter;
    Step atStep { 0 };
    std::optional<CommMetric> metric; ///< over the steps; none: nothing is asked
    HeatRequest strip; ///< steps, pixels, plot and theme of it
};

struct CommAnswer {
    std::shared_ptr<const CommPicture> table;
    std::shared_ptr<const HeatPicture> strip;
};

/// Thread: query.
Expected<CommAnswer> readComm(
    store::RunReader& reader, const CommRequest& request, const series::CancelToken& cancel = {});

}
