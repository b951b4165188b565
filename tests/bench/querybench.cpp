// SPDX-License-Identifier: GPL-3.0-or-later
// What the views wait for: heat maps and curves over long runs, from a reader that has just opened the capsule and from
// one that has answered before; wall time.
#include <algorithm>
#include <filesystem>
#include <random>

#include <fcntl.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>

#include <telltale/store/capsulewriter.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storeservice.h>

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
        const std::string conflict = must(writer->stage(stream, std::move(batch)));
        if (!conflict.empty())
            qFatal("%s", conflict.c_str());
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

/// Makes the next read come from the disk, as far as a program may ask for that.
void dropFromCache(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ::fdatasync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
}

series::HeatQuery wholeRun(const store::Catalog& catalog)
{
    series::HeatQuery query { {}, Stat::Norm, catalog.steps, 1000 };
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
    report.add({ "heatmap_2000x1000_of_100k_steps_warm", warm, "ms", 20, false, "", 0, {} });
    report.add({ "heatmap_2000x1000_of_100k_steps_cold_disk", cold, "ms", 200, false, "", 0, {} });
    report.add({ "first_heatmap_of_200M_samples_after_open", first, "ms", 100, false, "", 0, {} });
}

void benchCurve(Report& report, const std::string& path)
{
    const Opened opened = open(path);
    const series::CurveQuery query { { opened.catalog->series[3].id }, Stat::Norm, opened.catalog->steps, 2000 };
    must(opened.reader->curve(query));
    const double warm = medians(31, { [&] { must(opened.reader->curve(query)); } }).front() * 1000;
    const double fresh = medians(9, { [&] { must(open(path).reader->curve(query)); } }).front() * 1000;
    report.add({ "curve_of_1M_steps_warm", warm, "ms", 2, false, "", 0, {} });
    report.add({ "curve_of_1M_steps_after_open", fresh, "ms", 10, false, "", 0, {} });
}

/// The whole program, from exec to a curve over every step written out.
void benchProcess(Report& report, const std::string& path, const std::string& dir)
{
    const QString telltale = QCoreApplication::applicationDirPath() + QStringLiteral("/../bin/telltale");
    const auto render = [&] {
        const QString out = QString::fromStdString(dir) + QStringLiteral("/curve.csv");
        const int code = QProcess::execute(telltale,
            { QStringLiteral("render"), QString::fromStdString(path), QStringLiteral("--view"),
                QStringLiteral("curves"), QStringLiteral("--size"), QStringLiteral("2000x800"), QStringLiteral("-o"),
                out });
        if (code != 0)
            qFatal("telltale render failed");
    };
    render();
    const double warm = medians(5, { render }).front();
    dropFromCache(path);
    const double cold = fastest(1, render);
    report.add({ "process_start_to_curve_of_10M_samples_warm", warm, "s", 0.16, false, "", 0, {} });
    report.add({ "process_start_to_curve_of_10M_samples_cold_disk", cold, "s", 0.5, false, "", 0, {} });
}

}

void benchQueries(Report& report)
{
    const QTemporaryDir dir;
    const std::string folder = dir.path().toStdString();
    writeRun(folder + "/curve.telltale", 10, 1'000'000);
    benchCurve(report, folder + "/curve.telltale");
    benchProcess(report, folder + "/curve.telltale", folder);
    writeRun(folder + "/heatmap.telltale", 2000, 100'000);
    benchHeatmap(report, folder + "/heatmap.telltale");
}

}
