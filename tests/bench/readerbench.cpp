// SPDX-License-Identifier: GPL-3.0-or-later
// What the views wait for: heat maps and curves over long runs, from a reader that has just opened the capsule and from
// one that has answered before, in processor time of the asking thread (the page cache is warm). Prints name, value,
// unit and goal, one figure a line. Usage: readerbench [STEPS_OF_THE_HEATMAP_RUN [STEPS_OF_THE_CURVE_RUN]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <telltale/store/capsulewriter.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storeservice.h>

namespace {

using namespace telltale;
/// Processor time of this thread: other programs on the machine must not count.
struct Clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<Clock>;
    static constexpr bool is_steady = true;
    static time_point now()
    {
        timespec now {};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
    }
};

template <typename T> T must(Expected<T> value)
{
    if (!value) {
        std::fprintf(stderr, "readerbench: %s\n", value.error().sentence().c_str());
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>)
        return std::move(*value);
}

double milliseconds(Clock::time_point from)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void print(const char* name, double value, const char* unit, double goal)
{
    std::printf("%-32s %10.2f %-4s goal %g %s\n", name, value, unit, goal, value <= goal ? "pass" : "short");
    std::fflush(stdout);
}

void writeRun(const std::string& path, int series, std::int64_t steps)
{
    store::LiveRun live;
    store::RunMeta meta;
    meta.storeId = path;
    meta.runId = meta.runKey = meta.name = "bench";
    auto writer = must(store::CapsuleWriter::create(path, meta, live));
    store::StreamRequest request;
    request.agentId = "bench";
    request.incarnation = 1;
    const std::int64_t stream = must(writer->addStream(request, 0));
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { 1 };
    layout->kind = Kind::GradReduced;
    layout->stats = { Stat::Norm, Stat::Nans, Stat::PosInfs, Stat::NegInfs };
    for (int i = 0; i < series; ++i) {
        layout->series.emplace_back();
        layout->series.back().name = "layers." + std::to_string(i);
    }
    std::mt19937 random(1);
    std::normal_distribution<float> noise(1.0f, 0.05f);
    const auto count = static_cast<std::size_t>(series);
    std::vector<std::vector<float>> norms(512, std::vector<float>(count));
    for (auto& column : norms) {
        for (std::size_t i = 0; i < count; ++i)
            column[i] = static_cast<float>(1 + i % 37) * noise(random);
    }
    std::uint64_t seq = 0;
    for (std::int64_t step = 0; step < steps;) {
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = StreamId { stream };
        batch->seq = ++seq;
        batch->layouts = { layout };
        for (int i = 0; i < 64 && step < steps; ++i, ++step) {
            StepBlock block;
            block.layout = layout;
            block.step = Step { step };
            block.columns.push_back({ Stat::Norm, norms[static_cast<std::size_t>(step % 512)] });
            for (const Stat stat : { Stat::Nans, Stat::PosInfs, Stat::NegInfs })
                block.columns.push_back({ stat, std::vector<std::uint64_t>(count, step % 5000 == 17 ? 1 : 0) });
            batch->blocks.push_back(std::move(block));
        }
        const std::string conflict = writer->stage(stream, std::move(batch));
        if (!conflict.empty())
            std::fprintf(stderr, "readerbench: %s\n", conflict.c_str());
        must(writer->commit());
    }
    must(writer->finish(store::RunState::Finished));
    writer->leaveWal();
}

struct Opened {
    std::unique_ptr<store::RunReader> reader;
    std::shared_ptr<const store::Catalog> catalog;
};

Opened open(const std::string& path)
{
    store::RunHandle handle;
    handle.path = path;
    Opened opened { must(store::openReader(handle)), nullptr };
    opened.catalog = must(opened.reader->catalog());
    return opened;
}

void benchHeatmap(const std::string& path)
{
    const auto question = [](const store::Catalog& catalog) {
        series::HeatQuery query { {}, Stat::Norm, catalog.steps, 1000 };
        for (const store::SeriesInfo& series : catalog.series)
            query.rows.push_back({ series.id });
        return query;
    };
    std::vector<double> first;
    std::vector<double> cold;
    std::vector<double> warm;
    int level = 0;
    for (int i = 0; i < 5; ++i) {
        const auto start = Clock::now();
        const Opened opened = open(path);
        const auto query = question(*opened.catalog);
        const auto asked = Clock::now();
        level = must(opened.reader->heatmap(query)).level;
        cold.push_back(milliseconds(asked));
        first.push_back(milliseconds(start));
        for (int n = 0; n < 5; ++n) {
            const auto again = Clock::now();
            must(opened.reader->heatmap(query));
            warm.push_back(milliseconds(again));
        }
    }
    std::printf("heat map level %d\n", level);
    print("heatmap.warm", median(warm), "ms", 20);
    print("heatmap.cold", median(cold), "ms", 200);
    print("heatmap.open_to_first", median(first), "ms", 100);
}

void benchCurve(const std::string& path)
{
    std::vector<double> first;
    std::vector<double> cold;
    std::vector<double> warm;
    for (int i = 0; i < 5; ++i) {
        const auto start = Clock::now();
        const Opened opened = open(path);
        const series::CurveQuery query { { opened.catalog->series[3].id }, Stat::Norm, opened.catalog->steps, 2000 };
        const auto asked = Clock::now();
        must(opened.reader->curve(query));
        cold.push_back(milliseconds(asked));
        first.push_back(milliseconds(start));
        for (int n = 0; n < 20; ++n) {
            const auto again = Clock::now();
            must(opened.reader->curve(query));
            warm.push_back(milliseconds(again));
        }
    }
    print("curve.warm", median(warm), "ms", 2);
    print("curve.cold", median(cold), "ms", 2);
    print("curve.open_to_first", median(first), "ms", 160);
}

}

int main(int argc, char** argv)
{
    const std::int64_t heatSteps = argc > 1 ? std::atoll(argv[1]) : 100'000;
    const std::int64_t curveSteps = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
    const auto folder = std::filesystem::temp_directory_path() / "telltale-readerbench";
    std::filesystem::create_directories(folder);
    const auto make = [&folder](const char* name, int series, std::int64_t steps) {
        const std::string path = (folder / (std::string(name) + std::to_string(steps) + ".telltale")).string();
        if (!std::filesystem::exists(path)) {
            const auto start = Clock::now();
            writeRun(path + ".part", series, steps);
            std::filesystem::rename(path + ".part", path);
            std::printf("wrote %.0f M samples in %.0f ms, %.2f B a sample\n",
                static_cast<double>(series) * static_cast<double>(steps) / 1e6, milliseconds(start),
                static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(series)
                    / static_cast<double>(steps));
        }
        return path;
    };
    benchCurve(make("curve", 10, curveSteps));
    benchHeatmap(make("heatmap", 2000, heatSteps));
    if (argc < 2)
        std::filesystem::remove_all(folder);
    return 0;
}
