// SPDX-License-Identifier: GPL-3.0-or-later
// How long a view of a run of 100 M samples takes from a change of its steps to its picture, in the whole window, with
// everything else that asks there; and what the gui thread pays at once.
#include <algorithm>
#include <ctime>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>

#include <telltale/common/dataview.h>
#include <telltale/common/viewstate.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/viewfactory.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/capsulewriter.h>
#include <telltale/store/querypool.h>

#include "report.h"
#include "training.h"

namespace telltale::bench {
namespace {

constexpr int kRanks = 4;
constexpr int kBatchSteps = 64;
constexpr int kPatienceMs = 120'000;
constexpr int kZooms = 9;

[[noreturn]] void fail(const Error& error)
{
    qFatal("%s", error.sentence().c_str());
    std::abort();
}

std::int64_t writeLargeRun(const std::string& path, std::int64_t steps)
{
    store::LiveRun live;
    store::RunMeta meta;
    meta.storeId = meta.runId = meta.runKey = meta.name = "views";
    auto writer = store::CapsuleWriter::create(path, meta, live);
    if (!writer)
        fail(writer.error());
    Training training;
    for (int rank = 0; rank < kRanks; ++rank) {
        store::StreamRequest request;
        request.agentId = "bench" + std::to_string(rank);
        request.rank = Rank { rank };
        request.incarnation = 1;
        const auto stream = (*writer)->book().addStream(request, 0);
        if (!stream)
            fail(stream.error());
        std::uint64_t seq = 0;
        for (std::int64_t step = 0; step < steps;) {
            auto batch = std::make_shared<SampleBatch>();
            batch->stream = StreamId { *stream };
            batch->seq = ++seq;
            batch->layouts = training.layouts();
            for (int i = 0; i < kBatchSteps && step < steps; ++i, ++step)
                training.append(*batch, step, rank);
            if (const auto staged = (*writer)->stage(*stream, std::move(batch)); !staged)
                fail(staged.error());
            if (const auto committed = (*writer)->commit(); !committed)
                fail(committed.error());
        }
    }
    if (const auto finished = (*writer)->finish(store::RunState::Finished); !finished)
        fail(finished.error());
    (*writer)->tidyUp();
    return steps * kRanks * Training::kSamplesAStep;
}

double threadMs()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Until `isDone`; the longest turn of the event loop by this thread's own processor time into `longest`.
void turnUntil(const std::function<bool()>& isDone, double& longest)
{
    QElapsedTimer clock;
    clock.start();
    while (!isDone()) {
        const double before = threadMs();
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents);
        longest = std::max(longest, threadMs() - before);
        if (clock.elapsed() > kPatienceMs)
            qFatal("a view does not settle");
    }
}

/// Median of what a view takes from other steps to its picture.
double answerMs(shell::MainWindow& window, std::int64_t steps, double& longest)
{
    views::ViewState& state = *window.state();
    const views::DataView* view = window.views()->currentView();
    std::vector<double> took;
    for (int i = 0; i < kZooms; ++i) {
        const std::int64_t width = std::max<std::int64_t>(16, steps >> (i % 5));
        const std::int64_t first = (steps - width) * ((i * 37) % 100) / 100;
        QElapsedTimer clock;
        clock.start();
        state.zoomTo({ Step { first }, Step { first + width - 2 } });
        state.setCursor(Step { first + width / 2 });
        turnUntil([view] { return view->isSettled(); }, longest);
        took.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    }
    std::sort(took.begin(), took.end());
    return took[took.size() / 2];
}

}

void benchViews(Report& report)
{
    const int wanted = qEnvironmentVariableIntValue("TELLTALE_BENCH_VIEW_STEPS");
    const std::int64_t steps = wanted > 0 ? wanted : 40'000;
    const QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("views.telltale")).toStdString();
    const std::int64_t samples = writeLargeRun(path, steps);
    const std::string of = "_of_" + std::to_string(samples / 1'000'000) + "M_samples";
    store::QueryPool pool(2);
    shell::AppContext context;
    context.queries = &pool;
    context.dataDir = dir.path().toStdString();
    shell::MainWindow window(context);
    window.resize(1600, 1000);
    window.show();
    auto run = std::make_shared<store::RunHandle>();
    run->locator = store::RunLocator::ofFile(path);
    double stall = 0;
    window.findChild<shell::RunDriver*>()->show(run);
    turnUntil([&] { return window.state()->catalog() && !window.state()->fullRange().isEmpty(); }, stall);
    std::vector<views::ModuleKey> chosen;
    for (int i = 0; i < 4; ++i)
        chosen.push_back({ QString::fromStdString(Training::tensorName(i)) });
    window.state()->setSelection(chosen);
    for (const shell::ViewFactory& row : shell::viewFactories()) {
        if (!row.rendered || row.needsOthers) // nothing is compared here
            continue;
        window.views()->setCurrent(QLatin1String(row.id));
        turnUntil([&] { return window.views()->currentView()->isSettled(); }, stall);
        double longest = 0;
        const double took = answerMs(window, steps, longest);
        report.add({ std::string("view_") + row.id + of, took, "ms", "what nobody waits for", 100, 1 });
        stall = std::max(stall, longest);
    }
    report.add({ "gui_stall_over_all_views" + of, stall, "ms", "what people see", 50, 1 });
}

}
