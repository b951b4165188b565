// SPDX-License-Identifier: GPL-3.0-or-later
#include "offscreenview.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QRegularExpression>
#include <QSaveFile>
#include <QTimer>

#include <telltale/common/dataview.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/core/namepattern.h>
#include <telltale/core/numberformats.h>
#include <telltale/store/archive.h>

#include "args.h"

namespace telltale::app {
namespace {

constexpr int kAnswerTimeoutMs = 60'000;
/// A plot with more is no picture any more; the legend counts what is left out.
constexpr std::size_t kMostCurves = 100;
constexpr std::size_t kDefaultCurves = 6;

/// Processes events until `done` or the time is up.
bool waitFor(const std::function<bool()>& done)
{
    QElapsedTimer timer;
    timer.start();
    while (!done()) {
        if (timer.elapsed() > kAnswerTimeoutMs)
            return false;
        QEventLoop loop;
        QTimer::singleShot(5, &loop, &QEventLoop::quit);
        loop.exec();
    }
    return true;
}

struct Loaded {
    std::shared_ptr<const store::Catalog> catalog;
    std::vector<store::LogRecord> log;
};

Expected<Loaded> load(store::QueryPool& queries, const store::RunRef& run)
{
    Expected<Loaded> result = failure(ErrorCode::Io, "the run gives no answer");
    bool answered = false;
    const auto view = queries.newView();
    queries.submit(
        view, run, [&](Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            auto loaded = reader.and_then([](store::RunReader* opened) -> Expected<Loaded> {
                auto log = store::readWholeLog(*opened);
                auto catalog = log ? opened->catalog() : tl::unexpected(log.error());
                if (!catalog)
                    return tl::unexpected(catalog.error());
                return Loaded { std::move(*catalog), std::move(*log) };
            });
            return [&, loaded = std::move(loaded)] {
                result = loaded;
                answered = true;
            };
        });
    waitFor([&] { return answered; });
    queries.cancel(view);
    return result;
}

/// What is drawn where no kind is named: the first of them that the run has.
constexpr std::array kUsualKinds { Kind::GradReduced, Kind::GradUnreduced, Kind::Actv, Kind::ParamOrigin };

/// The first kind that has the only statistic that a view draws, which is not always one that a map offers.
Expected<Kind> kindWith(const store::Catalog& catalog, Stat stat, std::optional<Kind> wanted)
{
    std::vector<Kind> kinds = views::kindsOf(catalog);
    kinds.insert(kinds.begin(), kUsualKinds.begin(), kUsualKinds.end());
    for (const Kind kind : wanted ? std::vector { *wanted } : kinds) {
        const bool has = std::ranges::any_of(catalog.groups, [&](const store::GroupInfo& group) {
            return group.kind == kind && std::ranges::find(group.stats, stat) != group.stats.end();
        });
        if (has)
            return kind;
    }
    return failure(ErrorCode::NotFound,
        wanted ? "series of kind " + std::string(kindName(*wanted)) + " have no " + std::string(statName(stat))
               : "the run has no " + std::string(statName(stat)),
        "'telltale inspect' lists what it has");
}

Expected<Kind> chooseKind(const store::Catalog& catalog, std::optional<Kind> wanted)
{
    const auto has = [&](Kind kind) {
        return std::any_of(catalog.series.begin(), catalog.series.end(), [&](const auto& s) { return s.kind == kind; });
    };
    if (wanted) {
        if (has(*wanted))
            return *wanted;
        return failure(ErrorCode::NotFound, "the run has no series of kind " + std::string(kindName(*wanted)),
            "'telltale inspect' lists the kinds it has");
    }
    for (const Kind kind : kUsualKinds) {
        if (has(kind))
            return kind;
    }
    return catalog.series.empty() ? Kind::GradReduced : catalog.series.front().kind;
}

Expected<Stat> chooseStat(const store::Catalog& catalog, Kind kind, std::optional<Stat> wanted)
{
    const auto stats = views::statsOf(catalog, kind);
    const Stat stat = wanted.value_or(Stat::Norm);
    if (isIdentity(stat))
        return failure(ErrorCode::BadInput,
            "the statistic " + std::string(statName(stat)) + " says whether tensors are the same and has no picture",
            "read it with 'telltale show'");
    if (stats.empty() || std::find(stats.begin(), stats.end(), stat) != stats.end())
        return stat;
    if (!wanted)
        return stats.front();
    std::string known;
    for (const Stat one : stats)
        known += (known.empty() ? "" : ", ") + std::string(statName(one));
    return failure(ErrorCode::BadInput,
        "series of kind " + std::string(kindName(kind)) + " have no " + std::string(statName(stat)),
        "they have " + known);
}

/// The columns that a drawn statistic is read from.
std::vector<Stat> storedStats(Stat stat)
{
    if (stat == Stat::AbsMax)
        return { Stat::Nans, Stat::PosInfs, Stat::NegInfs, Stat::Min, Stat::Max };
    return { Stat::Nans, Stat::PosInfs, Stat::NegInfs, isFormatShare(stat) ? Stat::Hist : stat };
}

Expected<void> writeFile(views::DataView& view, const QString& path, QSize size)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        return failure(ErrorCode::Io, "cannot write " + path.toStdString() + ": " + file.errorString().toStdString());
    }
    if (path.endsWith(QLatin1String(".csv"))) {
        if (auto written = view.writeCsv(&file); !written)
            return written;
    } else if (path.endsWith(QLatin1String(".svg"))) {
        file.write(view.renderSvg(size)); // commit() says what went wrong
    } else if (!view.renderImage(size).save(&file, "PNG")) {
        return failure(ErrorCode::Io, "cannot write " + path.toStdString() + " as PNG");
    }
    if (!file.commit())
        return failure(ErrorCode::Io, "cannot write " + path.toStdString() + ": " + file.errorString().toStdString());
    return {};
}

}

Expected<RenderReport> renderToFile(const RenderRequest& request, store::QueryPool& queries, const QString& path)
{
    const auto loaded = load(queries, request.run);
    if (!loaded)
        return tl::unexpected(loaded.error());
    const auto& catalog = loaded->catalog;
    const auto wanted = request.view->kind ? request.view->kind : request.kind;
    const auto kind
        = request.view->stat ? kindWith(*catalog, *request.view->stat, wanted) : chooseKind(*catalog, wanted);
    std::vector<views::ComparedRun> others;
    for (const store::RunRef& run : request.with) {
        auto other = load(queries, run);
        if (!other)
            return tl::unexpected(other.error());
        others.push_back({ run, std::move(other->catalog) });
    }
    if (!kind)
        return tl::unexpected(kind.error());
    const auto steps = parseSteps(request.steps.toStdString(), catalog->steps);
    if (!request.steps.isEmpty() && !steps)
        return tl::unexpected(steps.error());
    const StepRange all = catalog->steps;
    if (!request.steps.isEmpty() && (steps->last < all.first || all.last < steps->first)) {
        return failure(ErrorCode::BadInput, "the run has no steps " + request.steps.toStdString(),
            "it has " + std::to_string(all.first.value) + ":" + std::to_string(all.last.value));
    }
    const auto stat
        = request.view->stat ? Expected<Stat>(*request.view->stat) : chooseStat(*catalog, *kind, request.stat);
    if (!stat)
        return tl::unexpected(stat.error());
    if (const NamePattern pattern(request.modules.toStdString()); !pattern.isValid()) {
        return failure(ErrorCode::BadInput,
            "--modules " + request.modules.toStdString() + " is not a regular expression", pattern.error());
    }

    views::ViewState state;
    views::SharedAxis axis(&state);
    // A plain parent: as a window of its own the view would have Qt complain that off-screen windows have no size
    // hints.
    QWidget host;
    const std::unique_ptr<views::DataView> view(request.view->create({ &state, &axis, &queries }, nullptr));
    const shell::Subject subject = *request.view->rendered;
    const Rank rank = !request.ranks.empty() ? request.ranks.front()
        : catalog->sources.empty()           ? Rank { 0 }
                                             : catalog->sources.front().rank;
    auto rows = views::buildRows(*catalog, { *kind, rank, request.modules, {}, request.view->stat });
    std::erase_if(rows, [](const views::Row& row) { return row.isAxis(); });
    // Compared runs may have nothing but signs of gradients.
    const bool needsRows = request.with.empty() || !request.modules.isEmpty();
    if (rows.empty() && needsRows && subject != shell::Subject::Metrics && subject != shell::Subject::Incidents)
        return failure(
            ErrorCode::NotFound, "nothing to draw: no series matches", "see 'telltale inspect' for the names");

    host.resize(request.size);
    if (!request.below.isEmpty()) {
        const bool hasSome = view->metaObject()->indexOfProperty("below") >= 0;
        if (!hasSome || !view->setProperty("below", request.below) || view->property("below") != request.below)
            return failure(ErrorCode::BadInput,
                "--below '" + request.below.toStdString() + "' is nothing that the view " + request.view->id + " draws",
                "the attention view takes curves, strips or maps");
    }
    view->setParent(&host);
    view->resize(request.size);
    view->ensurePolished();
    state.setRun(request.run);
    state.setCatalog(catalog);
    state.appendLog({ loaded->log, {} });
    state.setFullRange(catalog->steps);
    state.setKind(*kind);
    state.setStat(*stat);
    state.setRank(rank);
    if (!request.ranks.empty())
        state.setRanks(request.ranks);
    state.setComparedRuns(std::move(others));
    state.setModuleFilter(request.modules);
    if (!request.steps.isEmpty())
        state.zoomTo(*steps);
    if (subject == shell::Subject::Selection) {
        std::vector<views::ModuleKey> selection;
        std::vector<views::ModuleKey> omitted;
        const std::size_t most = request.modules.isEmpty() ? kDefaultCurves : kMostCurves;
        std::set<views::ModuleKey> known; // by all its micro steps
        for (const views::Row& row : rows) {
            if (known.insert(row.key).second)
                (selection.size() < most ? selection : omitted).push_back(row.key);
        }
        state.setSelection(std::move(selection), std::move(omitted));
    }
    host.setAttribute(Qt::WA_DontShowOnScreen);
    view->show();
    host.show();
    if (!waitFor([&] { return view->isSettled(); }))
        return failure(ErrorCode::Io, "the run did not answer within a minute");
    if (auto written = writeFile(*view, path, request.size); !written)
        return tl::unexpected(written.error());
    RenderReport report { catalog->damage };
    if (subject == shell::Subject::Incidents)
        return report;
    store::RunPart part { { *kind }, storedStats(*stat), rank, request.steps.isEmpty() ? all : *steps };
    if (subject == shell::Subject::Metrics)
        part = { { Kind::Scalar }, {}, std::nullopt, part.steps };
    const auto lost = store::lostIn(request.run->locator, part);
    if (!lost)
        return tl::unexpected(lost.error());
    report.lost.insert(report.lost.end(), lost->begin(), lost->end());
    return report;
}

}
