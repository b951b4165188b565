// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/foreignimport.h>

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <telltale/exchange/foreignblocks.h>
#include <telltale/ingest/foreignparts.h>
#include <telltale/ingest/storetarget.h>
#include <telltale/protocol/datarules.h>
#include <telltale/store/archive.h>
#include <telltale/store/importdraft.h>
#include <telltale/store/runfacts.h>

namespace telltale::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatchBytes = 2u << 20;
constexpr std::int64_t kSettleMs = 3'600'000;

}

/// How far a run is written.
struct ForeignImport::Feed {
    explicit Feed(store::StoreService& service)
        : target(service)
    {
    }
    StoreTarget target;
    ForeignReport report;
    std::string key;
    int worldSize = 1;
    exchange::ForeignReader::Progress progress;
    double done = 0, all = 1; ///< processes
};

ForeignImport::ForeignImport(std::string dataDir)
    : m_dataDir(std::move(dataDir))
{
}

ForeignImport::~ForeignImport()
{
    if (!m_draft.empty())
        store::removeDraft(m_draft);
}

Expected<void> ForeignImport::writeProcess(exchange::ForeignRun& run, exchange::ForeignProcess& process, Feed& feed)
{
    for (exchange::ForeignSeries& series : process.all()) {
        if (!protocol::mendNames(series.desc))
            continue;
        run.leaveOut("names that were too long or no text: they are mended");
    }
    exchange::ForeignBlocks blocks(process, run);
    std::size_t series = 0;
    for (const auto& layout : blocks.layouts())
        series += layout->series.size();
    if (auto ok = protocol::checkSeriesCount(0, series); !ok)
        return ok;
    feed.report.series += series;
    store::StreamRequest request = requestFor(process, process.attempt(), feed.key, run.name);
    request.worldSize = feed.worldSize;
    const auto stream = feed.target.open(std::move(request));
    if (!stream)
        return tl::unexpected<Error>(stream.error());
    const auto submit = [&](const std::shared_ptr<SampleBatch>& batch) {
        auto ok = feed.target.submit(*stream, batch);
        feed.report.samples += batch->samples;
        feed.report.scalars += batch->scalars;
        return ok;
    };
    auto batch = std::make_shared<SampleBatch>();
    batch->layouts = blocks.layouts();
    for (std::size_t number = 0; takeDocuments(process, run, number, kBatchBytes, *batch);) {
        if (auto ok = submit(std::exchange(batch, std::make_shared<SampleBatch>())); !ok)
            return ok;
    }
    takeEventsOf(process, run, *batch);
    std::size_t bytes = batch->byteCost();
    while (blocks.done() < blocks.size()) {
        StepBlock block = blocks.next();
        bytes += block.layout->cells() * block.columns.size() * sizeof(double);
        batch->blocks.push_back(std::move(block));
        if (bytes < kBatchBytes)
            continue;
        bytes = 0;
        if (auto ok = submit(std::exchange(batch, std::make_shared<SampleBatch>())); !ok)
            return ok;
        const double share = static_cast<double>(blocks.done()) / static_cast<double>(blocks.size());
        if (auto on = exchange::goOn(feed.progress, (feed.done + share) / feed.all); !on)
            return on;
    }
    auto ok = submit(batch);
    if (ok)
        ok = exchange::goOn(feed.progress, (feed.done + 1) / feed.all);
    return ok ? feed.target.close(*stream, "finished") : ok;
}

Expected<ForeignReport> ForeignImport::write(
    exchange::ForeignRun& run, const std::string& runKey, const exchange::ForeignReader::Progress& progress)
{
    m_home.check();
    auto draft = store::makeDraft(m_dataDir);
    if (!draft)
        return tl::unexpected<Error>(std::move(draft.error()));
    m_draft = std::move(*draft);
    store::StoreOptions options;
    options.dataDir = m_draft;
    options.commitMs = 1000;
    options.commitBytes = 16u << 20;
    auto service = store::StoreService::start(options);
    if (!service)
        return tl::unexpected<Error>(std::move(service.error()));
    ForeignReport report;
    std::string capsule;
    {
        Feed feed(**service);
        feed.key = runKey;
        feed.progress = progress;
        feed.all = static_cast<double>(run.processes().size());
        for (const auto& [key, process] : run.processes())
            feed.worldSize = std::max(feed.worldSize, key.second.value + 1);
        // By attempt, then by rank: an attempt is numbered when it comes.
        for (const auto& [key, found] : run.processes()) {
            if (auto ok = writeProcess(run, run.process(key.second, key.first), feed); !ok)
                return tl::unexpected<Error>(std::move(ok.error()));
            feed.done += 1;
        }
        if (auto ok = feed.target.flush(std::chrono::milliseconds(kSettleMs)); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        capsule = feed.target.capsule();
        report = feed.report;
    }
    (*service)->stop(kSettleMs);
    if (auto ok = store::setCreated(capsule, run.createdNs); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    report.capsule = capsule;
    report.name = run.name;
    report.processes = static_cast<int>(run.processes().size());
    return report;
}

Expected<store::ImportedRun> importAnything(
    const std::string& dataDir, const std::string& path, const exchange::ForeignReader::Progress& progress)
{
    const exchange::ForeignReader* reader = exchange::findForeignReader(path);
    std::error_code error;
    if (std::string_view(reader ? reader->id() : "") == "telltale" || (!reader && !fs::is_directory(path, error)))
        return store::importRun(dataDir, path);
    const std::vector<fs::path> paths { path };
    const std::string key = importKey(paths);
    if (auto before = store::importedAs(dataDir, requestForRun(key)); !before.id.empty()) {
        before.wasHere = true;
        return before;
    }
    const auto halfOf = [&progress](double done) {
        return [&progress, done](double share) { return !progress || progress(done + share / 2); };
    };
    auto run = exchange::readForeign(paths, halfOf(0));
    if (!run)
        return tl::unexpected<Error>(std::move(run.error()));
    ForeignImport import(dataDir);
    auto written = import.write(*run, key, halfOf(0.5));
    if (!written)
        return tl::unexpected<Error>(std::move(written.error()));
    auto taken = store::adoptRun(dataDir, written->capsule);
    if (!taken)
        return taken;
    taken->damage.insert(taken->damage.end(), run->damages().begin(), run->damages().end());
    for (const auto& [what, count] : run->leftOut())
        taken->damage.push_back(fmt::format("left out: {} ({})", what, count));
    return taken;
}

}
