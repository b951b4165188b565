// SPDX-License-Identifier: GPL-3.0-or-later
#include "runquery.h"

#include <algorithm>
#include <set>
#include <span>

#include <QCoreApplication>

#include <telltale/items/comma.h>
#include <telltale/plot/scalarpanels.h>

namespace telltale::views {
namespace {

constexpr std::size_t kMostConsoleBytes = 32u << 20;
constexpr double kGiB = 1024.0 * 1024 * 1024;

/// What the agent calls them, in the words of people.
constexpr std::pair<const char*, const char*> kSystemWords[] {
    { "rss_bytes", QT_TRANSLATE_NOOP("SystemMetrics", "resident memory") },
    { "cpu_percent", QT_TRANSLATE_NOOP("SystemMetrics", "process CPU") },
    { "host_cpu_percent", QT_TRANSLATE_NOOP("SystemMetrics", "machine CPU") },
    { "host_memory_percent", QT_TRANSLATE_NOOP("SystemMetrics", "machine memory") },
    { "gpu_allocated_bytes", QT_TRANSLATE_NOOP("SystemMetrics", "GPU memory allocated") },
    { "gpu_reserved_bytes", QT_TRANSLATE_NOOP("SystemMetrics", "GPU memory reserved") },
    { "gpu_used_bytes", QT_TRANSLATE_NOOP("SystemMetrics", "GPU memory used") },
    { "gpu_percent", QT_TRANSLATE_NOOP("SystemMetrics", "GPU use") },
    { "gpu_watts", QT_TRANSLATE_NOOP("SystemMetrics", "GPU power") },
    { "gpu_celsius", QT_TRANSLATE_NOOP("SystemMetrics", "GPU temperature") },
};

/// In GiB what is in bytes: nobody reads nine digits.
void scale(CurveSeries& one)
{
    if (!one.row.key.name.endsWith(QLatin1String("_bytes")))
        return;
    for (series::Bucket& bucket : one.result.buckets) {
        for (double* value : { &bucket.min, &bucket.max, &bucket.mean, &bucket.first, &bucket.last })
            *value /= kGiB;
    }
    if (one.lastFinite)
        one.lastFinite->second /= kGiB;
}

/// A color a rank, the same in all plots: which line is whose cannot be told by their places.
void colorRanks(CurvePicture& picture)
{
    std::set<Rank> ranks;
    for (const CurveSeries& one : picture.series)
        ranks.insert(one.row.rank);
    for (const ScalarPanel& panel : panelsOf(picture)) {
        const std::span<CurveSeries> lines
            = std::span(picture.series).subspan(panel.first, panel.picture.series.size());
        const bool isPlain = !panel.isShared && ranks.size() > 1
            && std::none_of(lines.begin(), lines.end(), [](const CurveSeries& one) { return one.isGroup; });
        for (CurveSeries& one : isPlain ? lines : std::span<CurveSeries>()) {
            one.slot = static_cast<int>(std::distance(ranks.begin(), ranks.find(one.row.rank)));
            one.hasRankColor = true;
            one.isOtherRank = false; // nor can they by a pale line
        }
    }
}

Expected<void> readConsole(store::RunReader& reader, const RunRequest& request, RunPicture& picture)
{
    const auto found = reader.documents("console", request.consoleRank.value < 0 ? 0 : request.afterConsole);
    if (!found)
        return tl::unexpected(found.error());
    picture.consoleRank = request.consoleRank;
    if (picture.consoleRank.value < 0) {
        for (const store::DocumentInfo& info : *found) {
            if (info.rank == request.rank || picture.consoleRank.value < 0
                || (picture.consoleRank != request.rank && info.rank < picture.consoleRank))
                picture.consoleRank = info.rank;
        }
    }
    picture.lastConsole = found->empty() ? request.afterConsole : found->back().id;
    std::vector<std::string> chunks;
    std::size_t bytes = 0;
    for (auto info = found->rbegin(); info != found->rend() && bytes < kMostConsoleBytes; ++info) {
        if (info->rank != picture.consoleRank)
            continue;
        auto chunk = reader.document(info->id); // one that is damaged is not there; verify says so
        bytes += chunk ? chunk->size() : 0;
        if (chunk)
            chunks.push_back(std::move(*chunk));
    }
    for (auto chunk = chunks.rbegin(); chunk != chunks.rend(); ++chunk)
        picture.console.append(*chunk);
    return {};
}

}

QString systemLabel(const QString& name)
{
    static const std::pair<QLatin1String, QString> kUnits[] { { QLatin1String("_bytes"), QStringLiteral("GiB") },
        { QLatin1String("_percent"), QStringLiteral("%") }, { QLatin1String("_watts"), QStringLiteral("W") },
        { QLatin1String("_celsius"), QStringLiteral("°C") } };
    QString label = name.startsWith(kSystemGroup) ? name.mid(kSystemGroup.size()) : name;
    const auto known = std::find_if(std::begin(kSystemWords), std::end(kSystemWords),
        [&label](const auto& one) { return label == QLatin1String(one.first); });
    const auto unit = std::find_if(
        std::begin(kUnits), std::end(kUnits), [&label](const auto& one) { return label.endsWith(one.first); });
    if (unit != std::end(kUnits))
        label.chop(unit->first.size());
    label = known != std::end(kSystemWords) ? QCoreApplication::translate("SystemMetrics", known->second)
                                            : label.replace(u'_', u' ');
    return unit == std::end(kUnits) ? label : label + items::comma() + unit->second;
}

Expected<RunPicture> readRun(store::RunReader& reader, const RunRequest& request, const series::CancelToken& cancel)
{
    RunPicture picture;
    if (request.isDocumentWanted) {
        auto document = analysis::readRunDocument(reader);
        if (!document)
            return tl::unexpected(document.error());
        picture.document = std::move(*document);
    }
    if (request.curves.catalog && !request.curves.range.isEmpty() && request.curves.pixels > 0) {
        auto system = readScalars(reader, request.curves, cancel);
        if (!system)
            return tl::unexpected(system.error());
        picture.system = std::move(*system);
        for (CurveSeries& one : picture.system.series) {
            one.row.label = systemLabel(one.row.key.name);
            scale(one);
        }
        colorRanks(picture.system);
    }
    auto logged = readLogged(reader, request.logged);
    if (!logged)
        return tl::unexpected(logged.error());
    picture.logged = std::move(*logged);
    if (auto read = readConsole(reader, request, picture); !read)
        return tl::unexpected(read.error());
    return picture;
}

}
