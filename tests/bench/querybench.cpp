// SPDX-License-Identifier: GPL-3.0-or-later
// What the views wait for: heat maps and curves over long runs, from a reader that has just opened the capsule and from
// one that has answered before; wall time.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>

#include <telltale/core/histogram.h>
#include <telltale/store/capsulewriter.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storeservice.h>

#include "memoryread.h"
#include "report.h"

namespace telltale::bench {
namespace {

template <typename T> T must(Expected<T> value)
{
    if (!value)
        qFatal("%s", value.error().sentence().c_str());
    if constexpr (!std::is_void_v<T>)
        return std::move(*value);
}

/// A run of one rank with one layout: the columns of each step, one after another.
void writeRun(const std::string& path, const std::shared_ptr<const SeriesLayout>& layout, std::int64_t steps,
    const std::function<std::vector<Column>(std::int64_t)>& columnsOf)
{
    store::LiveRun live;
    store::RunMeta meta;
    meta.storeId = path;
    meta.runId = meta.runKey = meta.name = "bench";
    auto writer = must(store::CapsuleWriter::create(path, meta, live));
    store::StreamRequest request;
    request.agentId = "bench";
    request.incarnation = 1;
    const std::int64_t stream = must(writer->book().addStream(request, 0));
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
            block.columns = columnsOf(step);
            batch->blocks.push_back(std::move(block));
        }
        const std::string conflict = must(writer->stage(stream, std::move(batch)));
        if (!conflict.empty())
            qFatal("%s", conflict.c_str());
        must(writer->commit());
    }
    must(writer->finish(store::RunState::Finished));
    writer->tidyUp();
}

std::shared_ptr<SeriesLayout> layoutOf(std::vector<Stat> stats, int series)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { 1 };
    layout->kind = Kind::GradReduced;
    layout->stats = std::move(stats);
    for (int i = 0; i < series; ++i)
        layout->series.emplace_back().name = "layers." + std::to_string(i);
    return layout;
}

void writeNorms(const std::string& path, int series, std::int64_t steps)
{
    std::mt19937 random(1);
    std::normal_distribution<float> noise(1.0f, 0.05f);
    const auto count = static_cast<std::size_t>(series);
    std::vector<std::vector<float>> norms(512, std::vector<float>(count));
    for (auto& column : norms) {
        for (std::size_t i = 0; i < count; ++i)
            column[i] = static_cast<float>(1 + i % 37) * noise(random);
    }
    const auto layout = layoutOf({ Stat::Norm, Stat::Nans, Stat::PosInfs, Stat::NegInfs }, series);
    writeRun(path, layout, steps, [&](std::int64_t step) {
        std::vector<Column> columns { { Stat::Norm, norms[static_cast<std::size_t>(step % 512)] } };
        for (const Stat stat : { Stat::Nans, Stat::PosInfs, Stat::NegInfs })
            columns.push_back({ stat, std::vector<std::uint64_t>(count, step % 5000 == 17 ? 1 : 0) });
        return columns;
    });
}

/// Histograms of normally distributed gradients whose spread wanders, with the noise of 25,600 elements.
void writeHistograms(const std::string& path, int tensors, std::int64_t steps)
{
    const auto layout = layoutOf({ Stat::Hist }, tensors);
    layout->edges.assign(octaveEdges().begin(), octaveEdges().end());
    std::mt19937 random(1);
    std::normal_distribution<double> noise;
    std::vector<double> spreads(static_cast<std::size_t>(tensors));
    for (double& spread : spreads)
        spread = 1e-4 * std::exp(noise(random));
    writeRun(path, layout, steps, [&](std::int64_t) {
        std::vector<std::uint64_t> counts;
        for (double& spread : spreads) {
            spread *= 1 + 0.01 * noise(random);
            const auto below = [&](double x) { return 0.5 * std::erfc(-x / spread / std::sqrt(2.0)); };
            for (std::size_t bin = 0; bin < layout->width(); ++bin) {
                const double mean = 25'600 * (below(layout->edges[bin + 1]) - below(layout->edges[bin]));
                counts.push_back(
                    static_cast<std::uint64_t>(std::max(0.0, std::round(mean + std::sqrt(mean) * noise(random)))));
            }
        }
        return std::vector<Column> { { Stat::Hist, std::move(counts) } };
    });
}

struct Opened {
    std::unique_ptr<store::RunReader> reader;
    std::shared_ptr<const store::Catalog> catalog;
};

Opened open(const std::string& path)
{
    store::RunHandle handle;
    handle.locator = store::RunLocator::ofFile(path);
    Opened opened { must(store::openReader(handle)), nullptr };
    opened.catalog = must(opened.reader->catalog());
    return opened;
}

/// Makes the next read come from the disk, as far as a program may ask for that.
void dropFromCache(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ::fdatasync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
}

double coldSeconds(const std::string& path)
{
    dropFromCache(path);
    return fastest(1, [&] {
        std::ifstream file(path, std::ios::binary);
        std::vector<char> bytes(1 << 20);
        while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) { }
    });
}

/// What a program pays that has every sample in memory and must look at each.
double floatsSeconds(std::size_t count)
{
    constexpr std::size_t kPart = 64u << 20;
    const std::vector<char> part(kPart, 1);
    volatile std::uint64_t sink = 0;
    double best = std::numeric_limits<double>::infinity();
    for (const MemoryRead& way : memoryReads())
        best = std::min(best, fastest(5, [&] { sink = way.read(part.data(), part.size()); }));
    return best * static_cast<double>(count * sizeof(float)) / kPart;
}

/// The peer of a curve: a row a step, of which SQLite makes 2000 buckets.
double rowTableSeconds(int steps)
{
    sqlite3* db = nullptr;
    sqlite3_open(":memory:", &db);
    const auto run = [db](const std::string& sql) {
        if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
            qFatal("%s", sqlite3_errmsg(db));
    };
    run("CREATE TABLE sample(step INTEGER PRIMARY KEY, value REAL);"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < "
        + std::to_string(steps) + ") INSERT INTO sample SELECT i, i % 37 FROM n");
    const double seconds = fastest(3, [&] {
        run("SELECT step / " + std::to_string(steps / 2000)
            + " AS bucket, min(value), max(value), avg(value) FROM sample GROUP BY bucket");
    });
    sqlite3_close(db);
    return seconds;
}

series::HeatQuery wholeRun(const store::Catalog& catalog, Stat stat = Stat::Norm)
{
    series::HeatQuery query { {}, stat, catalog.steps, 1000 };
    for (const store::SeriesInfo& series : catalog.series)
        query.rows.push_back({ series.id });
    return query;
}

void benchHeatmap(Report& report, const std::string& path)
{
    const Opened opened = open(path);
    const auto query = wholeRun(*opened.catalog);
    must(opened.reader->heatmap(query));
    const double warm = medians(15, { [&] { must(opened.reader->heatmap(query)); } }).front() * 1000;
    const auto openAndAsk = [&] {
        const Opened fresh = open(path);
        must(fresh.reader->heatmap(wholeRun(*fresh.catalog)));
    };
    const double first = medians(5, { openAndAsk }).front() * 1000;
    dropFromCache(path);
    const double cold = fastest(1, openAndAsk) * 1000;
    const double floats = floatsSeconds(200'000'000) * 1000;
    const char* reading = "reading 200 M floats in memory";
    report.add({ "heatmap_2000x1000_of_100k_steps_warm", warm, "ms", reading, floats, 1.4 });
    report.add({ "first_heatmap_of_200M_samples_after_open", first, "ms", reading, floats, 0.3 });
    report.add({ "heatmap_2000x1000_of_100k_steps_cold_disk", cold, "ms", "reading the cold file",
        coldSeconds(path) * 1000, 5 });
}

void benchCurve(Report& report, const std::string& path)
{
    const Opened opened = open(path);
    const series::CurveQuery query { { opened.catalog->series[3].id }, Stat::Norm, opened.catalog->steps, 2000 };
    must(opened.reader->curve(query));
    const double warm = medians(31, { [&] { must(opened.reader->curve(query)); } }).front() * 1000;
    const double fresh = medians(9, { [&] { must(open(path).reader->curve(query)); } }).front() * 1000;
    const double rows = rowTableSeconds(1'000'000) * 1000;
    report.add({ "curve_of_1M_steps_warm", warm, "ms", "SQLite row per sample", rows, 2000 });
    report.add({ "curve_of_1M_steps_after_open", fresh, "ms", "SQLite row per sample", rows, 200 });
}

/// A share that no tile holds: it is added up from the bins of every histogram.
void benchShares(Report& report, const std::string& path)
{
    const auto openAndAsk = [&] {
        const Opened fresh = open(path);
        const auto query = wholeRun(*fresh.catalog, Stat::Fp16Underflow);
        must(fresh.reader->heatmap(query));
    };
    report.add({ "first_heatmap_of_a_share_of_100M_counts_after_open", medians(9, { openAndAsk }).front() * 1000, "ms",
        "what a view may take", 100, 1 });
}

/// The whole program, from exec to a curve over every step written out.
void benchProcess(Report& report, const std::string& path, const std::string& dir)
{
    const QString telltale = QCoreApplication::applicationDirPath() + QStringLiteral("/../bin/telltale");
    const auto run = [&](const QStringList& arguments) {
        QProcess process;
        process.setStandardOutputFile(QProcess::nullDevice());
        process.start(telltale, arguments);
        if (!process.waitForFinished(-1) || process.exitCode() != 0)
            qFatal("telltale %s failed", qPrintable(arguments.join(u' ')));
    };
    const auto render = [&] {
        run({ QStringLiteral("render"), QString::fromStdString(path), QStringLiteral("--view"),
            QStringLiteral("curves"), QStringLiteral("--size"), QStringLiteral("2000x800"), QStringLiteral("-o"),
            QString::fromStdString(dir) + QStringLiteral("/curve.csv") });
    };
    render();
    const auto seconds = medians(5, { render, [&] { run({ QStringLiteral("--version") }); } });
    dropFromCache(path);
    const double cold = fastest(1, render);
    const char* start = "telltale --version";
    report.add({ "process_start_to_curve_of_10M_samples_warm", seconds[0], "s", start, seconds[1], 0.15 });
    report.add({ "process_start_to_curve_of_10M_samples_cold_disk", cold, "s", start, seconds[1], 0.1 });
}

}

void benchQueries(Report& report)
{
    const QTemporaryDir dir;
    const std::string folder = dir.path().toStdString();
    writeNorms(folder + "/curve.telltale", 10, 1'000'000);
    benchCurve(report, folder + "/curve.telltale");
    benchProcess(report, folder + "/curve.telltale", folder);
    writeHistograms(folder + "/shares.telltale", 200, 4096);
    benchShares(report, folder + "/shares.telltale");
    writeNorms(folder + "/heatmap.telltale", 2000, 100'000);
    benchHeatmap(report, folder + "/heatmap.telltale");
}

}
