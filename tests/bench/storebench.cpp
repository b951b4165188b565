// SPDX-License-Identifier: GPL-3.0-or-later
// What the store thread alone does: noisy but realistic statistics of a thousand tensors, from submit() to the last
// durable batch. Prints name, value and unit, one figure a line.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include <sys/resource.h>

#include <telltale/store/storeservice.h>

namespace {

using namespace telltale;
using Clock = std::chrono::steady_clock;

constexpr int kSeries = 1000;
constexpr int kStepsPerBatch = 8;

std::shared_ptr<const SeriesLayout> makeLayout()
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId(1);
    layout->kind = Kind::GradReduced;
    layout->stats
        = { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::PosInfs, Stat::NegInfs };
    for (int i = 0; i < kSeries; ++i) {
        SeriesDesc series;
        series.name = "layers." + std::to_string(i / 10) + ".weight" + std::to_string(i % 10);
        series.shape = { 1024, 1024 };
        series.numel = 1u << 20;
        layout->series.push_back(std::move(series));
    }
    return layout;
}

/// Norms drift slowly with a few per cent of noise, the others follow from them, as gradients do.
StepBlock makeBlock(const std::shared_ptr<const SeriesLayout>& layout, std::int64_t step, std::mt19937& random)
{
    std::normal_distribution<float> noise(0.0f, 0.05f);
    StepBlock block;
    block.layout = layout;
    block.step = Step(step);
    std::vector<float> norm(kSeries), mean(kSeries), min(kSeries), max(kSeries), zeros(kSeries);
    for (std::size_t i = 0; i < kSeries; ++i) {
        const float base = 0.1f + static_cast<float>(i % 37) * 0.03f;
        norm[i] = base * std::exp(noise(random)) * (1.0f + 1.0f / (1.0f + static_cast<float>(step) * 0.001f));
        mean[i] = norm[i] * noise(random) * 1e-4f;
        max[i] = norm[i] * 0.004f * std::exp(noise(random) * 4.0f);
        min[i] = -norm[i] * 0.004f * std::exp(noise(random) * 4.0f);
        zeros[i]
            = i % 4 == 0 ? static_cast<float>(static_cast<int>(std::abs(noise(random)) * 1000.0f)) / 1048576.0f : 0;
    }
    const std::vector<std::uint64_t> none(kSeries);
    const auto add = [&block](Stat stat, auto values) {
        Column column;
        column.stat = stat;
        column.values = std::move(values);
        block.columns.push_back(std::move(column));
    };
    add(Stat::Norm, norm);
    add(Stat::Mean, mean);
    add(Stat::Min, min);
    add(Stat::Max, max);
    add(Stat::Zeros, zeros);
    add(Stat::Nans, none);
    add(Stat::PosInfs, none);
    add(Stat::NegInfs, none);
    return block;
}

/// CPU time of the whole process, which on a loaded machine says more than the clock.
double cpuSeconds()
{
    rusage use {};
    getrusage(RUSAGE_SELF, &use);
    return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec)
        + static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

double threadCpuSeconds()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void waitFor(store::StoreService& service, const std::function<bool(const store::StoreEvent&)>& wanted)
{
    for (;;) {
        for (const store::StoreEvent& event : service.takeEvents()) {
            if (wanted(event))
                return;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
}

}

int main(int argc, char** argv)
{
    const int batches = argc > 1 ? std::atoi(argv[1]) : 1280;
    const std::string dir = (std::filesystem::temp_directory_path() / "telltale-storebench").string();
    std::filesystem::remove_all(dir);
    store::StoreOptions options;
    options.dataDir = dir;
    auto service = store::StoreService::start(options);
    if (!service) {
        std::fprintf(stderr, "%s\n", service.error().sentence().c_str());
        return 1;
    }
    store::StreamRequest request;
    request.runKey = request.runName = request.agentId = "bench";
    request.incarnation = 1;
    (*service)->openStream(request);
    StreamId stream;
    waitFor(**service, [&stream](const store::StoreEvent& event) {
        if (const auto* opened = std::get_if<store::StreamOpened>(&event)) {
            stream = opened->stream;
            return true;
        }
        return false;
    });
    // Made beforehand and repeated: the generator must not be what is measured. A cycle is longer than a pyramid
    // bucket.
    const auto layout = makeLayout();
    std::mt19937 random(1);
    std::vector<StepBlock> blocks;
    for (int i = 0; i < 512; ++i)
        blocks.push_back(makeBlock(layout, i, random));
    double feedSeconds = 0;
    const double cpuStart = cpuSeconds();
    const double ownStart = threadCpuSeconds();
    const auto start = Clock::now();
    std::int64_t step = 0;
    std::uint64_t samples = 0;
    for (int b = 0; b < batches; ++b) {
        const auto copyStart = Clock::now();
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = stream;
        batch->seq = static_cast<std::uint64_t>(b + 1);
        if (b == 0)
            batch->layouts = { layout };
        for (int i = 0; i < kStepsPerBatch; ++i) {
            batch->blocks.push_back(blocks[static_cast<std::size_t>(step % 512)]);
            batch->blocks.back().step = Step(step++);
        }
        batch->samples = 6ull * kSeries * kStepsPerBatch;
        batch->payload.assign(batch->samples * 2, 'x');
        samples += batch->samples;
        feedSeconds += std::chrono::duration<double>(Clock::now() - copyStart).count();
        while (!(*service)->submit(batch))
            std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const auto last = static_cast<std::uint64_t>(batches);
    waitFor(**service, [last](const store::StoreEvent& event) {
        const auto* durable = std::get_if<store::StreamDurable>(&event);
        return durable && durable->seq == last;
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double storeCpu = cpuSeconds() - cpuStart - (threadCpuSeconds() - ownStart);
    const std::string path = (*service)->liveRuns().front()->path;
    const auto commits = (*service)->counters().commits;
    const auto closing = Clock::now();
    (*service)->stop(60000);
    const double closeSeconds = std::chrono::duration<double>(Clock::now() - closing).count();
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    std::printf("store.samples %.1f M\n", static_cast<double>(samples) / 1e6);
    std::printf("store.rate %.1f Msamples/s\n", static_cast<double>(samples) / seconds / 1e6);
    std::printf("store.cpurate %.1f Msamples per CPU second of the store thread\n",
        static_cast<double>(samples) / storeCpu / 1e6);
    std::printf("store.feed %.2f s (copies on the submitting thread)\n", feedSeconds);
    std::printf("store.commits %llu\n", static_cast<unsigned long long>(commits));
    std::printf("store.close %.2f s\n", closeSeconds);
    std::printf("store.bytes %.3f B/sample\n", bytes / static_cast<double>(samples));
    std::filesystem::remove_all(dir);
    return 0;
}
