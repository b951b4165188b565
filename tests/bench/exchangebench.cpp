// SPDX-License-Identifier: GPL-3.0-or-later
// What runs of other tools cost to be read, and to be written for TensorBoard: processor time of one thread, beside
// pandas.read_csv on the same file and beside the crc and the copy that every event needs. And how long a large archive
// takes to be listed.
#include <filesystem>
#include <fstream>

#include <QProcess>
#include <QTemporaryDir>

#include <telltale/core/bytes.h>
#include <telltale/exchange/exporter.h>
#include <telltale/exchange/foreignreader.h>
#include <telltale/exchange/formats.h>
#include <telltale/store/archive.h>
#include <telltale/store/capsulewriter.h>

#include "report.h"
#include "workload.h"

namespace telltale::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kExchangeTensors = 500;
constexpr int kExchangeSteps = 256; // 0.8 M samples of six statistics and two counts
constexpr int kArchivedRuns = 5000;

template <typename T> T orEnd(Expected<T> value)
{
    if (!value)
        qFatal("%s", value.error().sentence().c_str());
    if constexpr (!std::is_void_v<T>)
        return std::move(*value);
}

std::string writeExchanged(const std::string& path, int tensors, int steps)
{
    store::LiveRun live;
    store::RunMeta meta;
    meta.storeId = "exchanged";
    meta.runId = meta.runKey = meta.name = "exchanged";
    auto writer = orEnd(store::CapsuleWriter::create(path, meta, live));
    store::StreamRequest request;
    request.agentId = "bench";
    request.incarnation = 1;
    const std::int64_t stream = orEnd(writer->book().addStream(request, 0));
    Workload workload(tensors);
    for (int step = 0; step < steps; ++step) {
        auto batch = std::make_shared<SampleBatch>();
        batch->stream = StreamId { stream };
        batch->layouts = { workload.layout() };
        batch->blocks.push_back(workload.next());
        batch->seq = static_cast<std::uint64_t>(step) + 1;
        if (const std::string conflict = orEnd(writer->stage(stream, std::move(batch))); !conflict.empty())
            qFatal("%s", conflict.c_str());
    }
    orEnd(writer->commit());
    orEnd(writer->finish(store::RunState::Finished));
    writer->tidyUp();
    return path;
}

/// How many values came of it. Nothing may be there yet.
double exportTo(const std::string& run, const char* format, const fs::path& to)
{
    store::RunHandle handle;
    handle.locator = store::RunLocator::ofFile(run);
    const auto reader = orEnd(store::openReader(handle));
    const auto writer = orEnd(exchange::findFormat(format)->make({ to.string(), "bench", {} }));
    exchange::Exporter exporter(*reader, {}, *writer);
    orEnd(exporter.advance());
    orEnd(writer->finish());
    return static_cast<double>(writer->values());
}

double readFrom(const fs::path& from)
{
    const std::vector<fs::path> paths { from };
    return static_cast<double>(orEnd(exchange::readForeign(paths)).values());
}

/// Seconds of pandas for the file; 0 where there is none.
double pandasSeconds(const fs::path& file)
{
    QProcess process;
    process.start(QStringLiteral(TELLTALE_PYTHON),
        { QStringLiteral("-c"),
            QStringLiteral("import sys,time,pandas\na=time.process_time()\npandas.read_csv(sys.argv[1])\n"
                           "print(time.process_time()-a)"),
            QString::fromStdString(file.string()) });
    if (!process.waitForFinished(120'000) || process.exitCode() != 0)
        return 0;
    return process.readAllStandardOutput().toDouble();
}

/// Runs of a few steps, as many as years of work leave.
void benchArchive(Report& report, const fs::path& dataDir)
{
    fs::create_directories(dataDir / "runs");
    const std::string one = writeExchanged((dataDir / "runs" / "run-0.telltale").string(), 8, 4);
    for (int i = 1; i < kArchivedRuns; ++i)
        fs::copy_file(one, dataDir / "runs" / ("run-" + std::to_string(i) + ".telltale"));
    const auto list = [&dataDir] {
        if (store::listRuns(dataDir.string()).size() != kArchivedRuns)
            qFatal("not every run of the archive was listed");
    };
    const double opened = fastest(1, list); // makes the index
    constexpr double kMilliseconds = 1e3;
    report.add({ "archive of 5,000 runs listed", fastest(5, list) * kMilliseconds, "ms",
        "each opened, as the first time", opened * kMilliseconds, 5 });
}

}

void benchExchange(Report& report)
{
    const QTemporaryDir dir;
    const fs::path folder(dir.path().toStdString());
    benchArchive(report, folder / "archive");
    fs::remove_all(folder / "archive");
    const std::string run = writeExchanged((folder / "run.telltale").string(), kExchangeTensors, kExchangeSteps);
    double scalars = 0, lines = 0;
    int exports = 0;
    const double writing = threadMedians(
        5, { [&] { scalars = exportTo(run, "tensorboard", folder / ("events" + std::to_string(++exports))); } })[0];
    for (; exports > 1; --exports)
        fs::remove_all(folder / ("events" + std::to_string(exports)));
    fs::rename(folder / "events1", folder / "events");
    const double reading = threadMedians(3, { [&] { readFrom(folder / "events"); } })[0];
    exportTo(run, "csv", folder / "run.csv");
    const double csv = threadMedians(3, { [&] { lines = readFrom(folder / "run.csv"); } })[0];
    // What no writer of event files can leave out: the bytes of each event, copied once and summed once.
    std::string bytes, copy;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "events")) {
        if (entry.is_regular_file())
            bytes.resize(bytes.size() + entry.file_size(), 'x');
    }
    std::uint32_t sum = 0;
    const double least = threadMedians(3, { [&] {
        copy = bytes;
        sum = crc32c(copy, sum);
    } })[0];
    constexpr double kMillion = 1e6;
    report.add({ "TensorBoard export", scalars / writing / kMillion, "M scalars/s",
        "its bytes copied and summed once (crc " + std::to_string(sum % 10) + ")", scalars / least / kMillion, 0.1,
        true });
    report.add({ "import of event files", scalars / reading / kMillion, "M scalars/s",
        "its bytes copied and summed once", scalars / least / kMillion, 0.05, true });
    const double pandas = pandasSeconds(folder / "run.csv");
    if (pandas > 0)
        report.add({ "import of csv", lines * 11 / csv / kMillion, "M cells/s", "pandas.read_csv",
            lines * 11 / pandas / kMillion, 1, true });
}

}
