// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidenttimes.h"

#include <algorithm>

#include <QDateTime>
#include <QTimeZone>

#include <telltale/common/rowlist.h>
#include <telltale/items/comma.h>
#include <telltale/judge/rules.h>

namespace telltale::views {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

}

QString IncidentTimes::spanText(std::int64_t ns)
{
    const auto seconds = static_cast<int>(std::max<std::int64_t>(0, ns) / (1000 * kNsPerMs));
    if (seconds < 60)
        return tr("%1 s").arg(seconds);
    if (seconds < 3600)
        return tr("%1 min").arg(seconds / 60);
    if (seconds < 48 * 3600)
        return tr("%1 h").arg(seconds / 3600);
    return tr("%n days", nullptr, seconds / 86400);
}

IncidentTimes IncidentTimes::read(
    store::RunReader& reader, const store::Catalog& catalog, const judge::Incident& incident)
{
    RowWish wish;
    wish.kind = Kind::Scalar;
    wish.only = { { QStringLiteral("telltale.wall_ns"), {} } };
    std::vector<Row> rows = buildRows(catalog, wish);
    std::stable_partition(rows.begin(), rows.end(), [&](const Row& row) { return row.rank == incident.first.rank; });
    const auto at = [&](Step step) -> std::int64_t {
        if (rows.empty())
            return 0;
        const auto cells = reader.column(step, Stat::Value, { &rows.front().attempts, 1 }, true);
        const bool isKnown = cells && cells->front().state == series::CellState::Value;
        return isKnown ? static_cast<std::int64_t>(cells->front().value) : 0;
    };
    return { at(incident.first.step), at(incident.lastStep) };
}

IncidentTimes::Until IncidentTimes::until(const judge::Incident& incident) const
{
    return incident.isOver || (runEnd && incident.lastStep < *runEnd) ? Until::Quiet
        : runEnd                                                      ? Until::RunEnd
                                                                      : Until::Open;
}

QString IncidentTimes::words(const judge::Incident& incident, std::int64_t nowNs) const
{
    QStringList parts;
    if (beganNs > 0)
        parts.append(tr("%1 ago").arg(spanText(nowNs - beganNs)));
    if (incident.first.rule == judge::idOf(judge::Rule::Replica)) // says where they part, not how long they stay apart
        return parts.join(items::comma());
    const auto steps
        = static_cast<int>(std::max<std::int64_t>(1, incident.lastStep.value - incident.first.step.value + 1));
    const Until end = until(incident);
    QString lasts = end == Until::Quiet ? tr("seen over %n steps", nullptr, steps)
        : end == Until::RunEnd          ? tr("for %n steps, until the run's end", nullptr, steps)
                                        : tr("for %n steps so far", nullptr, steps);
    if (beganNs > 0 && lastNs > beganNs)
        lasts = tr("%1 (%2)", "steps and their time").arg(lasts, spanText(lastNs - beganNs));
    parts.append(lasts);
    return parts.join(items::comma());
}

QString IncidentTimes::date() const
{
    if (beganNs <= 0)
        return {};
    const QDateTime local = QDateTime::fromMSecsSinceEpoch(beganNs / kNsPerMs);
    return local.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss "))
        + local.toOffsetFromUtc(local.offsetFromUtc()).timeZoneAbbreviation();
}

}
