// SPDX-License-Identifier: GPL-3.0-or-later
// What the gui thread pays for a large run: its own processor time, since other programs must not count.
#include <algorithm>
#include <ctime>
#include <fstream>
#include <memory>
#include <vector>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QStandardItemModel>
#include <QTemporaryDir>
#include <QTimer>

#include <unistd.h>

#include <telltale/common/viewstate.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/runs/modulespanel.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/store/capsulewriter.h>
#include <telltale/store/querypool.h>
#include <telltale/store/storeservice.h>

#include "report.h"

namespace telltale::bench {
namespace {

constexpr int kWaitMs = 120'000;

std::shared_ptr<const SeriesLayout> layoutOf(int series)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { 1 };
    layout->kind = Kind::GradReduced;
    layout->stats = { Stat::Norm };
    for (int i = 0; i < series; ++i) {
        layout->series.emplace_back();
        layout->series.back().name = "model.decoder.layers." + std::to_string(i / 1000) + ".mlp.experts."
            + std::to_string(i % 1000) + (i % 2 == 0 ? ".gate_proj.weight" : ".down_proj.weight");
    }
    return layout;
}

std::shared_ptr<SampleBatch> batchOf(
    StreamId stream, std::uint64_t seq, std::int64_t step, const std::shared_ptr<const SeriesLayout>& layout)
{
    auto batch = std::make_shared<SampleBatch>();
    batch->stream = stream;
    batch->seq = seq;
    batch->payload = "payload";
    batch->layouts = { layout };
    StepBlock block;
    block.layout = layout;
    block.step = Step { step };
    block.columns = { { Stat::Norm, std::vector<float>(layout->series.size(), static_cast<float>(step % 7) + 1) } };
    batch->samples = sampleCount(block);
    batch->blocks.push_back(std::move(block));
    return batch;
}

double cpuMs()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// `longest`: raised to the longest that one turn of the loop was at work; waiting costs no processor time.
template <typename Done> bool waitFor(int limitMs, Done done, double* longest = nullptr)
{
    QElapsedTimer timer;
    timer.start();
    QTimer beat; // so that the loop turns when nothing else happens
    beat.start(1);
    while (!done()) {
        if (timer.elapsed() > limitMs)
            return false;
        const double begin = cpuMs();
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        if (longest)
            *longest = std::max(*longest, cpuMs() - begin);
    }
    return true;
}

constexpr const char* kItemModel = "QStandardItemModel of the names";

/// The peer of the tree: every name an item, made on the gui thread.
void itemModel(int series)
{
    const auto layout = layoutOf(series);
    QStandardItemModel model;
    for (const auto& one : layout->series)
        model.appendRow(new QStandardItem(QString::fromStdString(one.name)));
}

void benchOpening(Report& report)
{
    constexpr int kSeries = 100'000;
    const QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("large.telltale")).toStdString();
    {
        store::LiveRun live;
        store::RunMeta meta;
        meta.storeId = meta.runId = meta.runKey = meta.name = "large";
        auto writer = store::CapsuleWriter::create(path, meta, live);
        store::StreamRequest request;
        request.agentId = "bench";
        request.incarnation = 1;
        const auto stream = writer ? (*writer)->book().addStream(request, 0) : Expected<std::int64_t>(0);
        const auto layout = layoutOf(kSeries);
        if (!writer || !stream || !(*writer)->stage(*stream, batchOf(StreamId { *stream }, 1, 0, layout))
            || !(*writer)->commit() || !(*writer)->finish(store::RunState::Finished))
            qFatal("the large run cannot be written");
        (*writer)->tidyUp();
    }
    store::QueryPool pool(2);
    shell::AppContext context;
    context.queries = &pool;
    context.dataDir = dir.path().toStdString();
    shell::MainWindow window(context);
    window.resize(1600, 1000);
    window.show();
    waitFor(kWaitMs, [&] { return window.isVisible(); });
    const auto* tree = window.findChild<views::ModulesPanel*>()->model();
    auto run = std::make_shared<store::RunHandle>();
    run->locator = store::RunLocator::ofFile(path);
    double longest = 0;
    QElapsedTimer clock;
    clock.start();
    window.findChild<shell::RunDriver*>()->show(run);
    const auto isThere = [&] { return tree->tree().moduleCount() == kSeries && tree->tree().isWhole(); };
    if (!waitFor(kWaitMs, isThere, &longest))
        qFatal("the tree is not whole");
    const double ready = static_cast<double>(clock.elapsed());
    waitFor(
        kWaitMs, [&] { return clock.elapsed() > 3000; }, &longest); // until the views have drawn it
    const double filled = fastest(3, [] { itemModel(kSeries); }) * 1000;
    report.add({ "tree_of_100k_series_after_open", ready, "ms", kItemModel, filled, 0.25 });
    report.add({ "gui_stall_opening_100k_series", longest, "ms", kItemModel, filled, 2 });
}

double residentMib()
{
    std::ifstream file("/proc/self/statm");
    double all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// 200 events a second beside a step a second of 8 ranks x 20,000 series, for as long as TELLTALE_BENCH_EVENT_SECONDS
/// says. In the second half there are no more steps, so that memory says what events cost.
void benchEvents(Report& report)
{
    constexpr int kRanks = 8, kSeries = 20'000, kEvents = 40, kEveryMs = 200;
    const qint64 lasts = 1000 * std::max(4, qEnvironmentVariableIntValue("TELLTALE_BENCH_EVENT_SECONDS"));
    const QTemporaryDir dir;
    store::QueryPool pool(2);
    auto service = store::StoreService::start({ .dataDir = dir.path().toStdString() });
    if (!service)
        qFatal("%s", service.error().sentence().c_str());
    shell::AppContext context;
    context.store = service->get();
    context.queries = &pool;
    context.dataDir = dir.path().toStdString();
    shell::MainWindow window(context);
    window.resize(1600, 1000);
    window.show();
    const auto layout = layoutOf(kSeries);
    std::vector<StreamId> streams;
    for (int rank = 0; rank < kRanks; ++rank) {
        store::StreamRequest request;
        request.token = static_cast<std::uint64_t>(rank) + 1;
        request.runKey = request.runName = "events";
        request.agentId = "host/" + std::to_string(rank);
        request.rank = Rank { rank };
        request.incarnation = 1;
        (*service)->openStream(request);
    }
    waitFor(kWaitMs, [&] {
        for (const store::StoreEvent& event : (*service)->takeEvents()) {
            if (const auto* opened = std::get_if<store::StreamOpened>(&event))
                streams.push_back(opened->stream);
        }
        return streams.size() == kRanks;
    });
    std::vector<std::uint64_t> seq(kRanks);
    const auto submit = [&](const std::shared_ptr<const SampleBatch>& batch) {
        if (!waitFor(kWaitMs, [&] { return (*service)->submit(batch); }))
            qFatal("the store does not take a batch");
    };
    std::int64_t step = 0;
    const auto takeStep = [&] {
        for (std::size_t rank = 0; rank < kRanks; ++rank)
            submit(batchOf(streams[rank], ++seq[rank], step, layout));
        ++step;
    };
    takeStep();
    const auto* tree = window.findChild<views::ModulesPanel*>()->model();
    const auto isShown = [&] {
        const auto catalog = window.state()->catalog();
        return catalog && catalog->series.size() == std::size_t { kRanks } * kSeries
            && tree->tree().moduleCount() == kSeries;
    };
    if (!waitFor(kWaitMs, isShown))
        qFatal("the run is not shown");
    std::size_t lines = 0;
    QObject::connect(window.state(), &views::ViewState::logAppended, &window,
        [&lines](const store::LogPage& page) { lines += page.records.size(); });
    QElapsedTimer clock;
    clock.start();
    std::size_t sent = 0;
    double longest = 0; // making the batches is not the window's work: only the waiting is measured
    double resident = 0;
    while (clock.elapsed() < lasts) {
        if (clock.elapsed() > lasts / 2)
            resident = resident > 0 ? resident : residentMib();
        else if (sent % (kEvents * 1000 / kEveryMs) == 0)
            takeStep();
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = streams[0];
        batch->seq = ++seq[0];
        batch->payload = "payload";
        for (int i = 0; i < kEvents; ++i, ++sent)
            batch->events.push_back(
                { "anomaly", Step { step }, static_cast<std::int64_t>(sent) + 1, "layers.1 is out of bounds", "" });
        submit(batch);
        const qint64 next = static_cast<qint64>(sent) / kEvents * kEveryMs;
        waitFor(
            kWaitMs, [&] { return clock.elapsed() >= next; }, &longest);
    }
    if (!waitFor(kWaitMs, [&] { return lines == sent; }))
        qFatal("%zu of %zu events are shown", lines, sent);
    report.add({ "gui_stall_200_events_160k_series", longest, "ms", "what people see", 50, 1 });
    const double grown = std::max(1.0, residentMib() - resident); // allocators come and go by less
    report.add({ "memory_of_200_events_a_second", grown, "MiB", "what nobody minds", 64, 1 });
}

}

void benchGui(Report& report)
{
    benchOpening(report);
    benchEvents(report);
}

}
