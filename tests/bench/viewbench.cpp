// SPDX-License-Identifier: GPL-3.0-or-later
// How long a view of a run of 100 M samples takes from a change of its steps to its picture, in the whole window, with
// everything else that asks there; and what the gui thread pays at once.
#include <algorithm>
#include <ctime>
#include <random>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>

#include <telltale/common/dataview.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/histogram.h>
#include <telltale/shell/mainwindow.h>
#include <telltale/shell/rundriver.h>
#include <telltale/shell/viewfactory.h>
#include <telltale/shell/viewtabs.h>
#include <telltale/store/capsulewriter.h>
#include <telltale/store/querypool.h>

#include "report.h"

namespace telltale::bench {
namespace {

constexpr int kRanks = 4, kBlocks = 12, kTensors = 480, kHeads = 12, kHistograms = 2, kSites = 8;
constexpr int kHistogramEach = 10;
constexpr int kBatchSteps = 64;
constexpr int kPatienceMs = 120'000;
constexpr int kZooms = 9;

[[noreturn]] void fail(const Error& error)
{
    qFatal("%s", error.sentence().c_str());
    std::abort();
}

std::string tensorName(int i)
{
    return "layers." + std::to_string(i * kBlocks / kTensors) + ".mlp.fc" + std::to_string(i) + ".weight";
}

std::shared_ptr<SeriesLayout> layoutOf(std::uint32_t id, Kind kind, std::vector<Stat> stats)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { id };
    layout->kind = kind;
    layout->stats = std::move(stats);
    return layout;
}

/// What one rank sends of one step, again and again with other numbers.
class Training {
public:
    Training()
        : m_norms(layoutOf(1, Kind::GradReduced, { Stat::Norm, Stat::Nans, Stat::PosInfs, Stat::NegInfs }))
        , m_heads(layoutOf(2, Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax }))
        , m_bins(layoutOf(3, Kind::Update, { Stat::Hist }))
        , m_sites(layoutOf(4, Kind::Comm, { Stat::Norm, Stat::Nans }))
        , m_scalars(layoutOf(5, Kind::Scalar, { Stat::Value }))
    {
        for (int i = 0; i < kTensors; ++i)
            add(*m_norms, tensorName(i));
        for (int i = 0; i < kBlocks * kHeads; ++i) {
            SeriesDesc& one = add(*m_heads, "layers." + std::to_string(i / kHeads) + ".attn");
            one.slot = Slot::ofHead(i % kHeads);
            one.shape = { kHeads, kHeads, 1024, 1024 };
        }
        m_bins->edges.assign(octaveEdges().begin(), octaveEdges().end());
        for (int i = 0; i < kHistograms; ++i)
            add(*m_bins, tensorName(i)).numel = 1000;
        for (int i = 0; i < kSites; ++i)
            add(*m_sites, "all_reduce#" + std::to_string(i)).slot = { Role::After, 0 };
        for (const char* name : { "loss", "lr", "grad-norm" })
            add(*m_scalars, name);
    }

    void append(SampleBatch& batch, std::int64_t step, int rank)
    {
        const auto noisy = [this](std::size_t count) {
            std::vector<float> values(count);
            for (std::size_t i = 0; i < count; ++i)
                values[i] = static_cast<float>(1 + i % 37) * m_noise(m_random);
            return values;
        };
        const std::vector<std::uint64_t> broken(kTensors, step % 5000 == 17 && rank == 1 ? 1 : 0);
        const std::vector<std::uint64_t> none(kTensors);
        batch.blocks.push_back(block(m_norms, step));
        batch.blocks.back().columns = { { Stat::Norm, noisy(kTensors) }, { Stat::Nans, broken },
            { Stat::PosInfs, none }, { Stat::NegInfs, none } };
        batch.blocks.push_back(block(m_heads, step));
        batch.blocks.back().columns
            = { { Stat::Entropy, noisy(kBlocks * kHeads) }, { Stat::SoftmaxMax, noisy(kBlocks * kHeads) } };
        batch.blocks.push_back(block(m_sites, step));
        batch.blocks.back().columns
            = { { Stat::Norm, noisy(kSites) }, { Stat::Nans, std::vector<std::uint64_t>(kSites) } };
        batch.blocks.push_back(block(m_scalars, step));
        batch.blocks.back().columns
            = { { Stat::Value, std::vector<double> { 3.0 / (1.0 + 1e-4 * double(step)), 1e-4, 1 } } };
        if (step % kHistogramEach != 0)
            return;
        const std::size_t bins = (m_bins->edges.size() - 1) * kHistograms;
        std::vector<std::uint64_t> counts(bins);
        for (std::size_t i = 0; i < bins; ++i)
            counts[i] = (i * 7 + static_cast<std::size_t>(step)) % 60;
        batch.blocks.push_back(block(m_bins, step));
        batch.blocks.back().columns = { { Stat::Hist, counts } };
    }
    std::vector<std::shared_ptr<const SeriesLayout>> layouts() const
    {
        return { m_norms, m_heads, m_bins, m_sites, m_scalars };
    }

private:
    static SeriesDesc& add(SeriesLayout& layout, std::string name)
    {
        layout.series.emplace_back();
        layout.series.back().name = std::move(name);
        return layout.series.back();
    }
    static StepBlock block(const std::shared_ptr<const SeriesLayout>& layout, std::int64_t step)
    {
        StepBlock one;
        one.layout = layout;
        one.step = Step { step };
        return one;
    }

    std::mt19937 m_random { 1 };
    std::normal_distribution<float> m_noise { 1.0F, 0.05F };
    std::shared_ptr<SeriesLayout> m_norms, m_heads, m_bins, m_sites, m_scalars;
};

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
    return steps * kRanks * (kTensors + kBlocks * kHeads + kSites);
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
        chosen.push_back({ QString::fromStdString(tensorName(i)) });
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
