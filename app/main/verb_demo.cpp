// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QRegularExpression>
#include <QTimer>

#include <nlohmann/json.hpp>

#include <telltale/client/controlclient.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/viewstate.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>

#include "backend.h"
#include "demorun.h"
#include "desktop.h"
#include "offscreenview.h"
#include "pumpedqueries.h"
#include "report.h"
#include "signals.h"

namespace telltale::app {
namespace {

constexpr int kHeadlessSteps = 200;
constexpr int kDesktopSteps = 2000;
constexpr int kBaselineSteps = 40;
constexpr int kDurableWaitMs = 10'000;
constexpr int kSettleMs = 800;

struct DemoRequest {
    DemoOptions demo;
    bool isHeadless = false;
    std::string dataDir;
    std::string out;
};

/// The form only; which modules there are the training process knows.
Expected<void> checkFault(const std::string& fault)
{
    static const QRegularExpression form(QStringLiteral("^[a-z][a-z-]*@[0-9]{1,9}(:.+)?$"));
    if (form.match(QString::fromStdString(fault)).hasMatch())
        return {};
    return failure(ErrorCode::BadInput, "--fault '" + fault + "' is not a fault",
        "say what goes wrong (nan, inf, spike, zero, freeze, lr, ...), then @STEP, and where it is to be "
        "[:MODULE][:RANK]");
}

Expected<DemoRequest> parseDemo(const Args& args)
{
    DemoRequest request;
    request.isHeadless = args.has("--headless");
    request.demo.steps = request.isHeadless ? kHeadlessSteps : kDesktopSteps;
    const auto number = [&](const char* flag, int most, int& into) -> Expected<void> {
        const auto text = args.value(flag);
        if (!text)
            return {};
        const auto value = parseInteger(flag, *text);
        if (!value)
            return tl::unexpected(value.error());
        if (*value < 1 || *value > most)
            return failure(
                ErrorCode::BadInput, std::string(flag) + " " + *text + " is not between 1 and " + std::to_string(most));
        into = static_cast<int>(*value);
        return {};
    };
    if (auto ok = number("--steps", 100'000'000, request.demo.steps); !ok)
        return tl::unexpected(ok.error());
    if (auto ok = number("--ranks", 64, request.demo.ranks); !ok)
        return tl::unexpected(ok.error());
    if (const auto fault = args.value("--fault")) {
        if (auto ok = checkFault(*fault); !ok)
            return tl::unexpected(ok.error());
        request.demo.fault = QString::fromStdString(*fault);
    }
    request.demo.isPython = args.has("--python");
    request.out = args.value("--out").value_or(".");
    const char* environment = std::getenv("TELLTALE_DATA_DIR");
    if (const auto dir = args.value("--data-dir"))
        request.dataDir = *dir;
    else if (!request.isHeadless || (!args.has("--out") && environment != nullptr && *environment != '\0'))
        request.dataDir = store::defaultDataDir();
    else
        request.dataDir = request.out + "/data";
    return request;
}

void runUntil(const std::function<bool()>& done, int boundMs = -1)
{
    QElapsedTimer timer;
    timer.start();
    while (!done() && (boundMs < 0 || timer.elapsed() < boundMs)) {
        QEventLoop loop;
        QTimer::singleShot(20, &loop, &QEventLoop::quit);
        loop.exec();
    }
}

double medianStepMs(const DemoRun& run)
{
    double sum = 0;
    for (const QJsonObject& summary : run.summaries())
        sum += summary.value(QLatin1String("step_ms_p50")).toDouble();
    return run.summaries().empty() ? 0 : sum / static_cast<double>(run.summaries().size());
}

std::uint64_t total(const DemoRun& run, QLatin1String field)
{
    double sum = 0;
    for (const QJsonObject& summary : run.summaries())
        sum += summary.value(field).toDouble();
    return static_cast<std::uint64_t>(std::llround(sum));
}

Expected<void> drawPictures(const DemoRequest& request, const store::RunRef& run)
{
    PumpedQueries queries;
    for (const char* view : { "heatmap", "curves" }) {
        RenderRequest picture;
        picture.run = run;
        picture.view = shell::findView(QLatin1String(view));
        const QString path
            = QString::fromStdString(request.out) + QLatin1Char('/') + QLatin1String(view) + QLatin1String(".png");
        if (auto drawn = renderToFile(picture, queries.pool(), path); !drawn)
            return tl::unexpected(drawn.error());
    }
    return {};
}

Expected<void> writeSummary(
    const DemoRequest& request, const DemoRun& demo, double bareMs, const store::RunRef& run, std::uint64_t stored)
{
    auto reader = store::openReader(*run);
    if (!reader)
        return tl::unexpected(reader.error());
    const auto catalog = (*reader)->catalog();
    if (!catalog)
        return tl::unexpected(catalog.error());
    const nlohmann::json summary { { "steps", request.demo.steps }, { "series", (*catalog)->series.size() },
        { "samples", stored }, { "produced", total(demo, QLatin1String("produced")) }, { "stored", stored },
        { "dropped", total(demo, QLatin1String("dropped")) }, { "capsule", run->locator.text() },
        { "step_ms", medianStepMs(demo) }, { "step_ms_without", bareMs } };
    std::ofstream file(request.out + "/summary.json");
    file << summary.dump(2) << '\n';
    if (!file.good())
        return failure(ErrorCode::Io, "cannot write " + request.out + "/summary.json");
    return {};
}

/// A user's first click, so that the pictures show curves and an inspector: some gradients and a step.
void pointAtSomething(views::ViewState& state)
{
    if (!state.catalog() || state.fullRange().isEmpty())
        return;
    const auto rows = views::buildRows(*state.catalog(), { state.kind(), state.rank(), {}, {} });
    std::vector<views::ModuleKey> selection;
    for (std::size_t part = 1; part <= 4 && rows.size() >= 4; ++part)
        selection.push_back(rows[rows.size() * part / 5].key);
    state.setSelection(std::move(selection));
}

int runHeadless(Report& report, const DemoRequest& request)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication app(report.argc, report.argv);
    nameApplication();
    std::error_code code;
    std::filesystem::create_directories(request.out, code);
    if (code)
        return report.fail({ ErrorCode::Io, "cannot make " + request.out + ": " + code.message(), {} });

    Signals signalsToQuit;
    bool interrupted = false;
    QObject::connect(&signalsToQuit, &Signals::terminationRequested, [&] { interrupted = true; });

    DemoOptions bare;
    bare.isPython = request.demo.isPython;
    bare.steps = std::min(kBaselineSteps, request.demo.steps);
    DemoRun baseline(bare);
    if (auto started = baseline.start(); !started)
        return report.fail(started.error());
    runUntil([&] { return interrupted || !baseline.isRunning(); });

    auto backend = Backend::start({ request.dataDir, "127.0.0.1:0", false });
    if (!backend)
        return report.fail(backend.error());
    if ((*backend)->server() == nullptr)
        return report.fail((*backend)->captureProblem());
    DemoOptions options = request.demo;
    options.join = (*backend)->server()->joinString();
    DemoRun demo(options);
    auto desktop = std::make_unique<Desktop>(**backend);
    desktop->window().resize(1600, 1000);
    desktop->window().show();
    if (auto started = demo.start(); !started)
        return report.fail(started.error());

    store::RunRef run;
    const QString picture = QString::fromStdString(request.out) + QLatin1String("/window.png");
    bool pictured = false;
    QElapsedTimer sinceNearEnd;
    const auto lookAtRun = [&] {
        if (!run && !(*backend)->store()->liveRuns().empty()) {
            run = (*backend)->store()->liveRuns().front();
            desktop->window().driver()->show(run);
        }
        if (run && desktop->window().state()->selection().empty())
            pointAtSomething(*desktop->window().state());
        // The picture shows the run while it is live, near its end.
        if (!run || pictured || run->live->lastStep.load() < request.demo.steps * 9 / 10)
            return;
        // A short run reaches its end before the views have drawn their first answer.
        if (!sinceNearEnd.isValid())
            sinceNearEnd.start();
        if (sinceNearEnd.elapsed() >= kSettleMs)
            pictured = desktop->window().grab().save(picture);
    };
    runUntil([&] {
        lookAtRun();
        return interrupted || !demo.isRunning();
    });
    if (interrupted || !demo.problem().isEmpty() || !run) {
        const std::string problem = interrupted ? "interrupted" : demo.problem().toStdString();
        return report.fail({ ErrorCode::Io, problem.empty() ? "no training process connected" : problem, {} });
    }
    const std::uint64_t acked = total(demo, QLatin1String("acked"));
    runUntil([&] { return run->live->storedSamples.load() >= acked; }, kDurableWaitMs);
    runUntil(
        [&] {
            lookAtRun();
            return pictured;
        },
        2 * kSettleMs);
    if (!pictured && !desktop->window().grab().save(picture))
        return report.fail({ ErrorCode::Io, "cannot write " + picture.toStdString(), {} });
    const std::uint64_t stored = run->live->storedSamples.load();
    desktop.reset();
    (*backend)->stopRecording();

    auto archived = std::make_shared<store::RunHandle>(*run);
    archived->live = nullptr;
    if (auto drawn = drawPictures(request, archived); !drawn)
        return report.fail(drawn.error());
    if (auto written = writeSummary(request, demo, medianStepMs(baseline), archived, stored); !written)
        return report.fail(written.error());
    report.say(std::to_string(request.demo.steps) + " steps, " + std::to_string(stored)
        + " samples stored, pictures and summary in " + request.out);
    return kExitDone;
}

/// How agents come to the Telltale that has `dataDir` open; none where nobody has, or nobody answers.
std::optional<QString> joinOfRunning(const std::string& dataDir)
{
    const auto control = client::controlJoin(dataDir);
    const auto server = control ? client::ControlClient::connect(*control) : tl::unexpected(control.error());
    protocol::Hello nobody; // the answer says how any agent comes
    nobody.runKey = nobody.agentId = "demo";
    if (!server || !(*server)->findStream(nobody))
        return std::nullopt;
    return QString::fromStdString((*server)->agentJoin().toString());
}

/// Trains into the window that is open already, until the training or the person ends it.
int trainInto(Report& report, DemoOptions options)
{
    const QCoreApplication app(report.argc, report.argv);
    Signals signalsToQuit;
    DemoRun demo(std::move(options));
    if (auto started = demo.start(); !started)
        return report.fail(started.error());
    report.say("the demo trains into the Telltale that is open; Ctrl+C ends the training");
    QObject::connect(&signalsToQuit, &Signals::terminationRequested, &app, &QCoreApplication::quit);
    QObject::connect(&demo, &DemoRun::finished, &app, &QCoreApplication::quit);
    if (demo.isRunning())
        QCoreApplication::exec();
    if (!demo.problem().isEmpty())
        return report.fail({ ErrorCode::Io, demo.problem().toStdString(), {} });
    return kExitDone;
}

int runDemo(const Args& args, Report& report)
{
    const auto request = parseDemo(args);
    if (!request)
        return report.failUsage(request.error());
    if (request->isHeadless)
        return runHeadless(report, *request);
    if (const auto join = joinOfRunning(request->dataDir)) {
        DemoOptions options = request->demo;
        options.join = *join;
        return trainInto(report, std::move(options));
    }
    return openDesktop(report, { request->dataDir, "", true }, {}, request->demo);
}

}

Verb demoVerb()
{
    return { "demo", "a capture server and a real training run connected to it",
        "Starts a capture server and a real training run that streams into it; where a Telltale has the data directory "
        "open,\n"
        "the run streams into that one. --headless ends with the training and "
        "leaves\n"
        "window.png, heatmap.png, curves.png and summary.json in DIR.",
        {},
        {
            { "--headless", "", "no window; end with the training" },
            { "--python", "", "train with PyTorch: python3 -m telltale train-demo" },
            { "--ranks", "N", "training processes (default 1)" },
            { "--steps", "N", "optimizer steps (default 200 headless, else 2000)" },
            { "--fault", "F",
                "nan, inf, spike, zero, freeze, lr, ... (tests/judge/README.md), then @STEP[:MODULE][:RANK]" },
            { "--data-dir", "DIR",
                "where the run is kept (headless with --out: data in its DIR; else $TELLTALE_DATA_DIR)" },
            { "--out", "DIR", "where pictures and summary go (default .)" },
        },
        runDemo };
}

}
