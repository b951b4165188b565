// SPDX-License-Identifier: GPL-3.0-or-later
#include "commpicture.h"

#include <algorithm>
#include <array>

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <telltale/items/shownname.h>

namespace telltale::views {

namespace {

QStringList texts(const QJsonArray& array)
{
    QStringList all;
    for (const auto& one : array)
        all.append(one.toString());
    return all;
}

}

std::string commMetricName(CommMetric metric, const QString& site)
{
    constexpr std::array<const char*, kCommMetrics> kNames { "calls", "bytes", "seconds", "begin_ns", "end_ns" };
    return std::string("telltale.comm.") + kNames[static_cast<std::size_t>(metric)] + '/' + site.toStdString();
}

QString commMetricText(CommMetric metric)
{
    return metric == CommMetric::Seconds ? QCoreApplication::translate("CommPicture", "ms in calls")
        : metric == CommMetric::Bytes    ? QCoreApplication::translate("CommPicture", "bytes")
                                         : QCoreApplication::translate("CommPicture", "calls");
}

bool CommPicture::hasTimes() const
{
    return std::any_of(rows.begin(), rows.end(),
        [](const CommRow& row) { return row.metric(CommMetric::EndNs).state == series::CellState::Value; });
}

CommSite siteOfName(const QString& name)
{
    CommSite site;
    site.name = name;
    const qsizetype open = name.indexOf(QStringLiteral(" ("));
    site.op = open < 0 ? name : name.left(open);
    if (open >= 0)
        std::tie(site.place, site.function) = items::codePlace(name.mid(open + 2, name.size() - open - 3));
    return site;
}

std::vector<CommSite> readSites(const std::string& json, QString* times)
{
    std::vector<CommSite> sites;
    const QJsonObject whole = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
    *times = whole.value(QLatin1String("times")).toString();
    const QJsonArray array = whole.value(QLatin1String("sites")).toArray();
    for (const auto& value : array) {
        const QJsonObject one = value.toObject();
        CommSite site = siteOfName(one.value(QLatin1String("name")).toString());
        if (site.name.isEmpty())
            continue;
        site.op = one.value(QLatin1String("op")).toString();
        site.stack = texts(one.value(QLatin1String("stack")).toArray());
        site.dtypes = texts(one.value(QLatin1String("dtypes")).toArray());
        const QJsonArray groups = one.value(QLatin1String("groups")).toArray();
        for (const auto& group : groups) {
            const QString name = group.toObject().value(QLatin1String("name")).toString();
            const int ranks = group.toObject().value(QLatin1String("ranks")).toInt();
            site.groups.append(ranks > 0
                    ? QCoreApplication::translate("CommPicture", "%1 (%n ranks)", nullptr, ranks).arg(name)
                    : name);
        }
        sites.push_back(std::move(site));
    }
    return sites;
}

}
