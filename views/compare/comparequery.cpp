// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparequery.h"

#include <algorithm>

#include <telltale/plot/curvetrace.h>
#include <telltale/plot/runnames.h>

#include "differencemap.h"
#include "runcurves.h"

namespace telltale::views {
namespace {

constexpr std::size_t kMostShown = 3; ///< rows whose curves are told apart beside those of several runs

/// What stands for a selection that is empty: the loss, else the first row of the map.
std::vector<ModuleKey> curvesOf(
    const store::Catalog& catalog, const CompareRequest& request, const std::vector<Row>& rows)
{
    if (!request.selection.empty()) {
        const std::size_t most
            = request.showsAll ? request.selection.size() : std::min(request.selection.size(), kMostShown);
        return { request.selection.begin(), request.selection.begin() + static_cast<std::ptrdiff_t>(most) };
    }
    RowWish loss;
    loss.kind = Kind::Scalar;
    loss.only = { { QStringLiteral("loss"), {} } };
    if (!buildRows(catalog, loss).empty())
        return loss.only;
    return rows.empty() ? std::vector<ModuleKey> {} : std::vector<ModuleKey> { rows.front().key };
}

std::vector<std::pair<double, double>> quantitiesOf(const Progress& progress, StepRange range, int columns)
{
    std::vector<std::pair<double, double>> quantities;
    quantities.reserve(static_cast<std::size_t>(columns));
    const std::int64_t count = range.count();
    const auto firstOf = [&](std::int64_t c) { return range.first.value + (c * count + columns - 1) / columns; };
    for (int c = 0; c < columns; ++c)
        quantities.emplace_back(progress.at(Step { firstOf(c) }), progress.at(Step { firstOf(c + 1) - 1 }));
    return quantities;
}

StepColumns columnsOf(const Progress& progress, const std::vector<std::pair<double, double>>& quantities)
{
    StepColumns columns;
    for (const auto& [first, last] : quantities) {
        const auto from = progress.stepAt(first);
        const auto to = progress.stepAt(last);
        columns.push_back(!from && !to ? StepRange {} : StepRange { from ? *from : *to, to ? *to : *from });
    }
    return columns;
}

/// The steps of the reference, from the first to the last column that has some of the other run.
StepRange beside(const StepColumns& columns, StepRange range)
{
    const auto isEmpty = [](const StepRange& steps) { return steps.isEmpty(); };
    const auto first = std::find_if_not(columns.begin(), columns.end(), isEmpty) - columns.begin();
    const auto end = columns.rend() - std::find_if_not(columns.rbegin(), columns.rend(), isEmpty);
    const auto count = static_cast<std::int64_t>(columns.size());
    if (first >= end)
        return { range.first, Step { range.first.value - 1 } };
    const auto firstOf = [&](std::int64_t c) { return range.first.value + (c * range.count() + count - 1) / count; };
    return { Step { firstOf(first) }, Step { firstOf(end) - 1 } };
}

int columnsFor(StepRange range, int pixels)
{
    return static_cast<int>(std::clamp<std::int64_t>(pixels, 1, std::max<std::int64_t>(1, range.count())));
}

Expected<series::HeatResult> readCells(store::RunReader& reader, const std::vector<Row>& rows, Stat stat,
    StepRange range, int pixels, const series::CancelToken& cancel)
{
    series::HeatQuery query;
    query.stat = stat;
    query.range = range;
    query.pixels = columnsFor(range, pixels);
    for (const Row& row : rows)
        query.rows.push_back(row.attempts);
    return reader.heatmap(query, cancel);
}

/// The reference's steps that end a column, over which both its own answer and the others' stand.
Expected<void> frameParts(store::RunReader& reader, const store::Catalog& catalog, const CompareRequest& request,
    ComparePart& part, CompareFrame& frame, const series::CancelToken& cancel)
{
    if (request.alignment == XAxis::Step)
        return {};
    auto progress = Progress::read(reader, catalog, request.alignment, request.rank, request.range, cancel);
    if (!progress)
        return tl::unexpected(progress.error());
    part.isAligned = !progress->isEmpty();
    if (!part.isAligned)
        return {};
    frame.isByStep = false;
    frame.mapQuantities = quantitiesOf(*progress, request.range, columnsFor(request.range, request.mapPixels));
    frame.curveQuantities = quantitiesOf(*progress, request.range, columnsFor(request.range, request.curvePixels));
    return {};
}

CurveRequest curveRequestOf(const CompareRequest& request, const std::shared_ptr<const store::Catalog>& catalog,
    std::size_t run, const std::vector<ModuleKey>& keys)
{
    CurveRequest curves;
    curves.catalog = catalog;
    curves.kind = request.kind;
    curves.stat = request.stat;
    curves.rank = request.rank;
    curves.ranks = std::vector<Rank> {};
    curves.selection = keys;
    curves.range = request.range;
    curves.own = request.steps[run];
    curves.pixels = request.curvePixels;
    curves.isLive = request.isLive;
    curves.xAxis = run == 0 ? request.alignment : XAxis::Step;
    curves.runName = request.names.value(static_cast<int>(run));
    return curves;
}

}

Expected<ComparePart> readComparePart(store::RunReader& reader, const CompareRequest& request, std::size_t run,
    const CompareFrame* frame, const series::CancelToken& cancel)
{
    const auto catalog = reader.catalog();
    if (!catalog)
        return tl::unexpected(catalog.error());
    ComparePart part;
    part.own = request.steps[run];
    RowWish wish;
    wish.kind = request.kind;
    wish.rank = request.rank;
    wish.filter = request.filter;
    wish.stat = request.stat;
    const bool isOnMap = run == 0 || run == request.against;
    if (isOnMap)
        part.rows = buildRows(**catalog, wish);
    std::shared_ptr<CompareFrame> own;
    if (run == 0) {
        own = std::make_shared<CompareFrame>();
        own->curves = curvesOf(**catalog, request, part.rows);
        if (auto framed = frameParts(reader, **catalog, request, part, *own, cancel); !framed)
            return tl::unexpected(framed.error());
        part.frame = own;
        frame = own.get();
    }
    CurveRequest curves = curveRequestOf(request, *catalog, run, frame->curves);
    if (run == 0 || frame->isByStep) {
        if (!part.rows.empty()) {
            auto heat = readCells(reader, part.rows, request.stat, request.range, request.mapPixels, cancel);
            if (!heat)
                return tl::unexpected(std::move(heat).error());
            part.heat = std::move(*heat);
        }
        auto picture = readCurves(reader, curves, cancel);
        if (!picture)
            return tl::unexpected(std::move(picture).error());
        part.curves = std::move(picture->series);
        part.warp = std::move(picture->warp);
        return part;
    }
    const StepRange steps = request.steps[run];
    auto progress = Progress::read(reader, **catalog, request.alignment, request.rank, steps, cancel);
    if (!progress)
        return tl::unexpected(progress.error());
    part.isAligned = !progress->isEmpty();
    part.own = part.isAligned ? beside({}, request.range) : request.range;
    if (!part.isAligned)
        return part;
    // Once more, closer: among many steps the first answer is no more than a sketch.
    const StepRange near = hullOf(columnsOf(*progress, frame->mapQuantities));
    if (near.isEmpty())
        return part;
    const StepRange around { std::max(steps.first, Step { near.first.value - near.count() }),
        std::min(steps.last, Step { near.last.value + near.count() }) };
    progress = Progress::read(reader, **catalog, request.alignment, request.rank, around, cancel);
    if (!progress)
        return tl::unexpected(progress.error());
    if (progress->isEmpty())
        return part;
    constexpr int kFiner = 2; ///< than the columns that its own are put into
    const StepColumns mapColumns = columnsOf(*progress, frame->mapQuantities);
    part.own = beside(mapColumns, request.range);
    if (!part.rows.empty() && !hullOf(mapColumns).isEmpty()) {
        auto heat = readCells(reader, part.rows, request.stat, hullOf(mapColumns), kFiner * request.mapPixels, cancel);
        if (!heat)
            return tl::unexpected(std::move(heat).error());
        part.heat = movedTo(mapColumns, request.range, *heat);
    }
    const StepColumns curveColumns = columnsOf(*progress, frame->curveQuantities);
    curves.range = hullOf(curveColumns);
    curves.pixels = kFiner * request.curvePixels;
    if (curves.range.isEmpty())
        return part;
    auto picture = readCurves(reader, curves, cancel);
    if (!picture)
        return tl::unexpected(std::move(picture).error());
    for (CurveSeries& one : picture->series) {
        one.result = movedTo(curveColumns, request.range, one.result);
        one.join = longestJoin(one.result.buckets);
        one.isMoved = true;
        part.curves.push_back(std::move(one));
    }
    return part;
}

CompareAnswer compareParts(const CompareRequest& request, std::vector<ComparePart> parts)
{
    CompareAnswer answer;
    answer.shown = parts.front().frame->curves;
    const bool hasCurves
        = std::any_of(parts.begin(), parts.end(), [](const ComparePart& part) { return !part.curves.empty(); });
    for (std::size_t run = 0; run < parts.size(); ++run) {
        const QString name = request.names.value(static_cast<int>(run));
        if (!parts[run].isAligned)
            answer.unaligned.append(name);
        else if (parts[run].curves.empty() && hasCurves)
            answer.lacking.append(name);
    }
    CurvePicture curves;
    curves.range = request.range;
    curves.isLive = request.isLive;
    curves.omitted = request.omitted
        + static_cast<int>(std::max(request.selection.size(), answer.shown.size()) - answer.shown.size());
    curves.warp = parts.front().warp;
    curves.hasOneStep = request.hasBand;
    curves.series = request.hasBand ? bandsOfRuns(parts) : linesOfRuns(parts);
    curves.runs = request.names;
    const QStringList brief = briefRunNames(request.names);
    for (CurveSeries& one : curves.series) {
        if (!request.hasBand)
            one.runName = brief.value(one.run);
    }
    answer.curves = std::make_shared<const CurvePicture>(std::move(curves));
    answer.isAligned = request.against >= parts.size() || parts[request.against].isAligned;
    if (request.against < parts.size() && answer.isAligned)
        addDifferenceMap(answer, request, std::move(parts.front()), std::move(parts[request.against]));
    return answer;
}

}
