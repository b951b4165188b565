// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <QTemporaryDir>

#include <telltale/judge/livejudge.h>
#include <telltale/protocol/joinstring.h>
#include <telltale/protocol/payloadbuilder.h>
#include <telltale/server/captureserver.h>
#include <telltale/store/archive.h>
#include <telltale/store/storeservice.h>

#include "report.h"
#include "wireclient.h"
#include "workload.h"

namespace telltale::bench {
namespace {

constexpr int kTensors = 1000;

struct Ingested {
    double seconds = 0;
    std::uint64_t fileBytes = 0;
};

/// Client -> QWebSocketServer -> decode -> SQLite with synchronous=FULL; the clock stops at the ack of the last batch.
Ingested ingest(const std::vector<std::string>& payloads, bool commitEveryBatch, bool isJudged = false)
{
    const QTemporaryDir dir;
    store::StoreOptions options;
    options.dataDir = dir.path().toStdString();
    if (commitEveryBatch)
        options.commitBatches = 1;
    auto service = store::StoreService::start(options);
    if (!service)
        qFatal("%s", service.error().sentence().c_str());
    const auto judge = isJudged ? std::make_unique<judge::LiveJudge>(**service) : nullptr;
    server::ServerOptions listen;
    listen.listen = "127.0.0.1:0";
    listen.dataDir = options.dataDir;
    auto server = server::CaptureServer::start(listen, **service);
    if (!server)
        qFatal("%s", server.error().sentence().c_str());
    const auto join = protocol::JoinString::parse((*server)->joinString().toStdString());
    Ingested result;
    {
        WireClient client(*join);
        protocol::Hello hello;
        hello.runKey = "bench";
        hello.runName = "bench";
        hello.agentId = "host/0/trainer";
        hello.host = "host";
        hello.incarnation = 7;
        client.hello(hello);
        result.seconds = fastest(1, [&] { client.deliver(payloads); });
    }
    (*server)->stop();
    (*service)->stop();
    for (const auto& run : store::listRuns(options.dataDir))
        result.fileBytes += run.fileBytes;
    return result;
}

/// The peer: one row a sample, primary key (series, stat, step), 16 steps a transaction, the same durability.
double rowTableSamplesPerSecond(int steps)
{
    const QTemporaryDir dir;
    sqlite3* db = nullptr;
    sqlite3_open((dir.path().toStdString() + "/rows.db").c_str(), &db);
    sqlite3_exec(db,
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE sample(series INT, stat INT, step INT, value REAL, PRIMARY KEY(series, stat, step)) WITHOUT "
        "ROWID",
        nullptr, nullptr, nullptr);
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(db, "INSERT INTO sample VALUES(?,?,?,?)", -1, &insert, nullptr);
    Workload workload(kTensors);
    std::vector<StepBlock> blocks;
    for (int i = 0; i < steps; ++i)
        blocks.push_back(workload.next());
    const double seconds = fastest(1, [&] {
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (i % 16 == 0)
                sqlite3_exec(db, "BEGIN", nullptr, nullptr, nullptr);
            for (int stat = 0; stat < 6; ++stat) {
                for (int s = 0; s < kTensors; ++s) {
                    const auto& values = blocks[i].columns[static_cast<std::size_t>(stat)].values;
                    const auto at = static_cast<std::size_t>(s);
                    sqlite3_bind_int(insert, 1, s);
                    sqlite3_bind_int(insert, 2, stat);
                    sqlite3_bind_int64(insert, 3, blocks[i].step.value);
                    sqlite3_bind_double(
                        insert, 4, std::visit([at](const auto& v) { return static_cast<double>(v[at]); }, values));
                    sqlite3_step(insert);
                    sqlite3_reset(insert);
                }
            }
            if (i % 16 == 15 || i + 1 == blocks.size())
                sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
        }
    });
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return static_cast<double>(steps) * kTensors * 6 / seconds;
}

/// The limit: the same bytes appended to a file and made durable, `together` payloads at a time.
double rawSeconds(const std::vector<std::string>& payloads, std::size_t together)
{
    const QTemporaryDir dir;
    const int file = ::open((dir.path().toStdString() + "/raw").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const double seconds = fastest(1, [&] {
        for (std::size_t i = 0; i < payloads.size(); ++i) {
            const bool isWritten = ::write(file, payloads[i].data(), payloads[i].size()) >= 0;
            if (!isWritten || ((i + 1) % together == 0 && ::fdatasync(file) != 0))
                qFatal("the disk takes no file");
        }
    });
    ::close(file);
    return seconds;
}

/// Payloads of histograms with 32 bins over what gradients of 25,600 elements hold: a Laplace distribution whose spread
/// wanders, and in each bin what chance puts there.
std::vector<std::string> histogramPayloads(int tensors, int steps)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId { 1 };
    layout->kind = Kind::GradReduced;
    layout->stats = { Stat::Hist };
    for (int i = 0; i < tensors; ++i)
        layout->series.emplace_back().name = fmt::format("layers.{}.weight", i);
    for (int edge = -15; edge <= 15; ++edge)
        layout->edges.push_back(edge / 15.0);
    layout->edges.insert(layout->edges.begin(), -std::numeric_limits<double>::infinity());
    layout->edges.push_back(std::numeric_limits<double>::infinity());
    constexpr double kElements = 25'600;
    const auto below = [](double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); };
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise;
    std::vector<double> spread(static_cast<std::size_t>(tensors));
    for (double& one : spread)
        one = 0.05 * std::exp(0.5 * noise(random));
    std::vector<std::string> payloads;
    protocol::PayloadBuilder builder;
    builder.addLayout(*layout);
    for (int step = 0; step < steps; ++step) {
        std::vector<std::uint64_t> counts;
        for (double& one : spread) {
            one *= 1 + 0.01 * noise(random);
            for (std::size_t bin = 0; bin < layout->width(); ++bin) {
                const double share = below(layout->edges[bin + 1] / one) - below(layout->edges[bin] / one);
                const double count = kElements * share + std::sqrt(kElements * share * (1 - share)) * noise(random);
                counts.push_back(static_cast<std::uint64_t>(std::max(0.0, std::round(count))));
            }
        }
        StepBlock block;
        block.layout = layout;
        block.step = Step { step };
        block.columns = { { Stat::Hist, std::move(counts) } };
        builder.addBlock(block);
        if (step % 8 == 7)
            payloads.push_back(builder.finish());
    }
    return payloads;
}

double totalBytes(const std::vector<std::string>& payloads)
{
    return std::accumulate(payloads.begin(), payloads.end(), 0.0,
        [](double sum, const std::string& p) { return sum + static_cast<double>(p.size()); });
}

}

void benchIngest(Report& report)
{
    constexpr int kSteps = 5120;
    const auto grouped = Workload(kTensors).payloads(kSteps, 8);
    const auto single = Workload(kTensors).payloads(kSteps / 2, 1);
    const double samples = static_cast<double>(kSteps) * kTensors * 6;

    const double rows = rowTableSamplesPerSecond(64);
    const Ingested a = ingest(grouped, false);
    const Ingested b = ingest(single, true);
    const double everyEighth = samples / a.seconds / 1e6, everyOne = samples / 2 / b.seconds / 1e6;
    const Ingested judged = ingest(grouped, false, true);
    const Ingested judgedOne = ingest(single, true, true);
    const char* rowTable = "SQLite row per sample";
    const char* unit = "M samples/s";
    report.add({ "ingest_grouped", everyEighth, unit, rowTable, rows / 1e6, 40, true });
    report.add({ "ingest_grouped_of_the_disk", everyEighth, unit, "write, fdatasync every 64 batches",
        samples / rawSeconds(grouped, 64) / 1e6, 0.1, true });
    report.add({ "ingest_every_step", everyOne, unit, rowTable, rows / 1e6, 24, true });
    report.add({ "ingest_every_step_of_the_disk", everyOne, unit, "write, fdatasync every batch",
        samples / 2 / rawSeconds(single, 1) / 1e6, 0.5, true });
    report.add(
        { "ingest_grouped_and_judged", samples / judged.seconds / 1e6, unit, "not judged", everyEighth, 0.6, true });
    report.add({ "ingest_every_step_and_judged", samples / 2 / judgedOne.seconds / 1e6, unit, "not judged", everyOne,
        0.6, true });
    report.add({ "wire_bytes_per_sample_8_steps", totalBytes(grouped) / samples, "B", "dense float", 4, 1.9 });
    report.add({ "wire_bytes_per_sample_1_step", totalBytes(single) / (samples / 2), "B", "dense float", 4, 1.54 });
    report.add(
        { "wire_bytes_per_dense_float_8_steps", totalBytes(grouped) / (samples * 4 / 6), "B", "dense float", 4, 1.25 });
    report.add(
        { "capsule_bytes_per_sample_with_pyramid", static_cast<double>(a.fileBytes) / samples, "B", rowTable, 21, 8 });
    constexpr int kHistograms = 400;
    constexpr int kHistogramSteps = 1024;
    const Ingested histograms = ingest(histogramPayloads(kHistograms, kHistogramSteps), false);
    report.add({ "capsule_bytes_per_histogram_of_32_bins",
        static_cast<double>(histograms.fileBytes) / kHistograms / kHistogramSteps, "B", "32 dense floats", 128, 5.3 });
}

}
