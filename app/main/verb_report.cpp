// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <ostream>

#include <QApplication>
#include <QFile>
#include <QRegularExpression>
#include <QSaveFile>
#include <QTemporaryDir>

#include <fmt/format.h>
#include <telltale/translations/translations.h>

#include "htmlreport.h"
#include "offscreenview.h"
#include "pumpedqueries.h"
#include "report.h"

namespace telltale::app {
namespace {

constexpr QSize kPicture { 1120, 460 };
constexpr std::int64_t kAround = 60; ///< steps that are shown before an incident, and behind it
constexpr qint64 kMostSvg = 150'000; ///< bytes; a larger picture is one of pixels
constexpr std::int64_t kMostBytes = 2'000'000;

/// What a picture of the report shows.
struct Wish {
    std::string title;
    std::string caption;
    QLatin1String view;
    std::optional<Kind> kind {};
    std::optional<Rank> rank {};
    QString modules {};
    std::optional<StepRange> steps {};
};

QString exactly(const std::string& name)
{
    return QLatin1Char('/') + QLatin1String("^") + QRegularExpression::escape(QString::fromStdString(name))
        + QLatin1String("$/");
}

std::vector<Wish> wishesFor(const ReportContent& content)
{
    std::vector<Wish> wishes { { "Overview", "loss, gradient norm and other scalars of the run",
        QLatin1String("overview") } };
    const StepRange all = content.catalog->steps;
    if (content.incidents.empty()) {
        wishes.push_back({ "Heat map", "a row a tensor, a column a step", QLatin1String("heatmap") });
        return wishes;
    }
    const judge::Finding& first = content.incidents.front().first;
    const StepRange around { Step { std::max(all.first.value, first.step.value - kAround) },
        Step { std::min(all.last.value, first.step.value + kAround) } };
    const auto rank = first.rank.value < 0 ? std::optional<Rank> {} : first.rank;
    const bool isTensor = first.kind != Kind::Scalar && first.kind != Kind::Unspecified;
    const std::string where
        = fmt::format("steps {} to {}, around where it began", around.first.value, around.last.value);
    wishes.push_back({ "Heat map", "a row a tensor, a column a step; " + where, QLatin1String("heatmap"),
        isTensor ? std::optional(first.kind) : std::nullopt, rank, {}, around });
    if (isTensor)
        wishes.push_back({ "Curves of " + first.name, where, QLatin1String("curves"), first.kind, rank,
            exactly(first.name), around });
    return wishes;
}

/// The picture as SVG, or as PNG where that would be too large.
ReportPicture draw(const Wish& wish, const store::RunRef& run, store::QueryPool& queries, const QString& folder)
{
    ReportPicture picture { wish.title, wish.caption, {} };
    RenderRequest request;
    request.run = run;
    request.view = shell::findView(wish.view);
    request.kind = wish.kind;
    request.modules = wish.modules;
    request.size = kPicture;
    if (wish.rank)
        request.ranks = { *wish.rank };
    if (wish.steps)
        request.steps = QStringLiteral("%1:%2").arg(wish.steps->first.value).arg(wish.steps->last.value);
    for (const auto& [ending, type] : { std::pair { ".svg", "image/svg+xml" }, std::pair { ".png", "image/png" } }) {
        const QString path = folder + QLatin1String("/picture") + QLatin1String(ending);
        const auto done = renderToFile(request, queries, path);
        QFile file(path);
        if (!done || !file.open(QIODevice::ReadOnly)) {
            picture.caption = "cannot be drawn: " + (done ? file.errorString().toStdString() : done.error().sentence());
            return picture;
        }
        for (const std::string& sentence : done->lost)
            picture.caption += "; " + sentence;
        picture.bytes = file.readAll();
        picture.type = type;
        if (picture.bytes.size() <= kMostSvg)
            break;
        picture.caption = wish.caption;
    }
    return picture;
}

Expected<ReportContent> readContent(const Args& args)
{
    const auto locator = runOf(args);
    auto capsule = locator ? openCapsule(*locator) : tl::unexpected(locator.error());
    if (!capsule)
        return tl::unexpected<Error>(std::move(capsule.error()));
    ReportContent content;
    content.run = store::describeRun(*locator);
    content.catalog = capsule->catalog;
    judge::IncidentBook book;
    if (auto read = book.update(*capsule->reader); !read)
        return tl::unexpected<Error>(std::move(read.error()));
    for (const judge::Incident* incident : book.inOrder())
        content.incidents.push_back(*incident);
    if (const auto text = args.value("--incident")) {
        const auto id = parseInteger("--incident", *text);
        if (!id)
            return tl::unexpected(id.error());
        const judge::Incident* found = book.standing(*id);
        if (!found)
            return failure(
                ErrorCode::NotFound, "the run has no incident " + *text, "'telltale incidents --json' lists their ids");
        content.incidents = { *found };
        content.isOfOne = true;
    }
    auto document = analysis::readRunDocument(*capsule->reader);
    if (!document)
        return tl::unexpected<Error>(std::move(document.error()));
    content.document = std::move(*document);
    auto log = store::readWholeLog(*capsule->reader);
    if (!log)
        return tl::unexpected<Error>(std::move(log.error()));
    content.log = std::move(*log);
    return content;
}

int runReport(const Args& args, Report& report)
{
    auto content = readContent(args);
    if (!content)
        return report.fail(content.error());
    const QString out = QString::fromStdString(*args.value("-o"));
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(report.argc, report.argv);
    translations::install(app, QStringLiteral("en")); // the plural forms
    views::Theme::apply(app, views::Theme::Mode::Light);
    PumpedQueries queries;
    const QTemporaryDir folder;
    auto run = std::make_shared<store::RunHandle>();
    run->locator = content->run.locator;
    run->name = content->catalog->name;
    for (const Wish& wish : wishesFor(*content))
        content->pictures.push_back(draw(wish, run, queries.pool(), folder.path()));
    const std::string html = htmlReport(*content);
    QSaveFile file(out);
    if (!file.open(QIODevice::WriteOnly) || file.write(html.data(), static_cast<qint64>(html.size())) < 0
        || !file.commit())
        return report.fail(
            { ErrorCode::Io, "cannot write " + out.toStdString() + ": " + file.errorString().toStdString(), {} });
    if (static_cast<std::int64_t>(html.size()) > kMostBytes)
        report.say("the report is larger than 2 MB: " + bytesText(html.size()));
    report.out() << fmt::format("{}  {}\n", out.toStdString(), bytesText(html.size()));
    return kExitDone;
}

}

Verb reportVerb()
{
    return { "report", "one HTML file about a run or an incident, to hand to others",
        "Writes what a run says into one HTML file that opens anywhere and needs nothing else: its incidents, where "
        "they\n"
        "showed, pictures around the first one, hyperparameters, config, environment and log.\n"
        "RUN is a path or an id from 'telltale runs'.",
        { "RUN", 1, 1 },
        { { "--incident", "ID", "of this one alone: an id from 'telltale incidents --json'" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" },
            { "-o", "FILE", "the file to write", true } },
        runReport };
}

}
