// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <array>

#include <QApplication>

#include <telltale/translations/translations.h>

#include "offscreenview.h"
#include "pumpedqueries.h"
#include "report.h"

namespace telltale::app {
namespace {

Expected<QSize> parseSize(const std::string& text)
{
    const std::size_t x = text.find('x');
    if (x != std::string::npos) {
        const auto width = parseInteger("--size", text.substr(0, x));
        const auto height = parseInteger("--size", text.substr(x + 1));
        if (width && height && *width >= 200 && *height >= 100 && *width <= 16384 && *height <= 16384)
            return QSize(static_cast<int>(*width), static_cast<int>(*height));
    }
    return failure(ErrorCode::BadInput, "--size " + text + " is not WxH with 200..16384 x 100..16384 pixels");
}

Expected<RenderRequest> parseRender(const Args& args)
{
    RenderRequest request;
    const std::string view = args.value("--view").value_or("");
    request.view = shell::findView(QString::fromStdString(view));
    if (!request.view || !request.view->rendered)
        return failure(ErrorCode::BadInput, "--view '" + view + "' is not a view",
            "views: " + shell::renderableViews().toStdString());
    if (const auto name = args.value("--kind")) {
        request.kind = kindFromName(*name);
        if (!request.kind)
            return failure(
                ErrorCode::BadInput, "--kind '" + *name + "' is not a kind", "for example grad_reduced, actv, exp_avg");
    }
    if (const auto name = args.value("--stat")) {
        request.stat = statFromName(*name);
        if (!request.stat)
            return failure(
                ErrorCode::BadInput, "--stat '" + *name + "' is not a statistic", "for example norm, mean, max, nans");
    }
    if (const auto text = args.value("--ranks")) {
        for (const QString& part : QString::fromStdString(*text).split(QLatin1Char(','))) {
            const auto rank = parseRank("--ranks", part.toStdString());
            if (!rank)
                return tl::unexpected(rank.error());
            request.ranks.push_back(*rank);
        }
    }
    if (const auto text = args.value("--size")) {
        const auto size = parseSize(*text);
        if (!size)
            return tl::unexpected(size.error());
        request.size = *size;
    }
    request.modules = QString::fromStdString(args.value("--modules").value_or(""));
    request.below = QString::fromStdString(args.value("--below").value_or(""));
    request.steps = QString::fromStdString(args.value("--steps").value_or(""));
    return request;
}

store::RunHandle handleOf(const store::RunLocator& locator)
{
    const store::RunSummary run = store::describeRun(locator);
    return { locator, run.id, run.name, nullptr };
}

/// The runs that --with names, in that order.
Expected<std::vector<store::RunRef>> runsWith(const Args& args)
{
    std::vector<store::RunRef> runs;
    const QString names = QString::fromStdString(args.value("--with").value_or(""));
    for (const QString& name : names.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        const auto locator = runNamed(args, name.toStdString());
        if (!locator)
            return tl::unexpected(locator.error());
        runs.push_back(std::make_shared<store::RunHandle>(handleOf(*locator)));
    }
    if (runs.size() > views::ViewState::kMostCompared)
        return failure(ErrorCode::BadInput, "--with names " + std::to_string(runs.size()) + " runs",
            "at most " + std::to_string(views::ViewState::kMostCompared) + " are compared with one");
    return runs;
}

int runRender(const Args& args, Report& report)
{
    auto request = parseRender(args);
    if (!request)
        return report.failUsage(request.error());
    const std::string theme = args.value("--theme").value_or("dark");
    if (theme != "dark" && theme != "light")
        return report.failUsage({ ErrorCode::BadInput, "--theme '" + theme + "' is neither dark nor light", {} });
    const QString out = QString::fromStdString(args.value("-o").value_or(""));
    constexpr std::array kEndings { ".png", ".svg", ".csv" };
    if (std::none_of(
            kEndings.begin(), kEndings.end(), [&](auto ending) { return out.endsWith(QLatin1String(ending)); }))
        return report.failUsage({ ErrorCode::BadInput, "-o needs a file that ends in .png, .svg or .csv", {} });

    const auto locator = runOf(args);
    if (!locator)
        return report.fail(locator.error());
    const auto with = runsWith(args);
    if (!with)
        return report.fail(with.error());
    request->with = *with;
    if (request->view->needsOthers && with->empty())
        return report.failUsage({ ErrorCode::BadInput, "--view " + std::string(request->view->id) + " compares runs",
            "name the others: --with RUN,RUN" });
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(report.argc, report.argv);
    translations::install(app, QStringLiteral("en")); // the plural forms
    views::Theme::apply(app, theme == "dark" ? views::Theme::Mode::Dark : views::Theme::Mode::Light);
    PumpedQueries queries;
    auto drawn = std::make_shared<store::RunHandle>();
    *drawn = handleOf(*locator);
    request->run = drawn;
    const auto done = renderToFile(*request, queries.pool(), out);
    if (!done)
        return report.fail(done.error());
    for (const std::string& sentence : done->lost)
        report.say(sentence);
    return done->lost.empty() ? kExitDone : kExitFailed;
}

}

Verb renderVerb()
{
    return { "render", "a view of a run as PNG, SVG or CSV",
        "Draws a view of a run into a file, PNG, SVG or CSV by the file's ending. CAPSULE is a path or an id from "
        "'telltale runs'.",
        { "CAPSULE", 1, 1 },
        {
            { "--view", "V", shell::renderableViews().toStdString(), true },
            { "--with", "RUN,RUN", "the runs that --view compare holds against it: paths or ids" },
            { "--kind", "K", "grad_reduced, actv, exp_avg, ... (default: gradients if the run has them)" },
            { "--stat", "S", "norm, mean, min, max, absmax, zeros, nans, fp16_underflow, ... (default norm)" },
            { "--modules", "GLOB", "which modules: text, glob* or /regex/" },
            { "--ranks", "A,B", "which ranks (default all); the first is the bold one, views of one rank take it" },
            { "--steps", "A:B", "which steps (default all)" },
            { "--below", "WHAT", "of the attention view: curves (default), strips or maps" },
            { "--size", "WxH", "pixels of a picture (default 1600x1000); columns of a CSV follow the width" },
            { "--theme", "dark|light", "default dark" },
            { "--data-dir", "DIR", "where ids are looked up" },
            { "-o", "FILE", "the file to write", true },
        },
        runRender };
}

}
