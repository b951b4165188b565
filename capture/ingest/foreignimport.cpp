// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/foreignimport.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <random>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <telltale/core/privatefiles.h>
#include <telltale/exchange/foreignblocks.h>
#include <telltale/ingest/batchsink.h>
#include <telltale/protocol/datarules.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>
#include <telltale/store/archive.h>
#include <telltale/store/sqlite.h>

namespace telltale::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatchBytes = 2u << 20;
constexpr std::int64_t kSettleMs = 3'600'000;

std::uint64_t presentScalars(const StepBlock& block)
{
    std::uint64_t count = 0;
    for (std::size_t i = 0; block.layout->kind == Kind::Scalar && i < block.layout->series.size(); ++i)
        count += block.isPresent(i) ? 1 : 0;
    return count;
}

std::string makeFolder()
{
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "telltale-import-XXXXXX").string();
    return !error && ::mkdtemp(name.data()) ? name : std::string();
}

/// A run is as old as its files say.
Expected<void> setCreated(const std::string& capsule, std::int64_t ns)
{
    if (ns <= 0)
        return {};
    auto db = store::openDatabase(capsule, store::OpenMode::Write);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    return store::execute(
        db->get(), ("UPDATE meta SET value = '" + std::to_string(ns) + "' WHERE key = 'created_ns'").c_str());
}

std::string randomKey()
{
    std::random_device device;
    return fmt::format("import-{:08x}{:08x}", device(), device());
}

}

/// The store, and the stream that is written into it now.
struct ForeignImport::Feed {
    explicit Feed(store::StoreService& service)
        : sink(service)
    {
        sink.setWake([this] {
            {
                const std::lock_guard lock(mutex);
                isSet = true;
            }
            came.notify_one();
        });
    }
    ~Feed() { sink.setWake({}); }
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    Expected<void> takeEvents()
    {
        for (store::StoreEvent& event : sink.takeEvents()) {
            if (auto* opened = std::get_if<store::StreamOpened>(&event)) {
                stream = opened->stream;
                run = opened->run;
                isOpen = true;
            } else if (auto* refused = std::get_if<store::StreamRefused>(&event)) {
                return tl::unexpected<Error>(std::move(refused->error));
            } else if (auto* bad = std::get_if<store::BatchQuarantined>(&event)) {
                return failure(ErrorCode::BadInput, "the run cannot be written: " + bad->reason);
            } else if (auto* trouble = std::get_if<store::StoreTrouble>(&event); trouble && !trouble->recovered) {
                return tl::unexpected<Error>(std::move(trouble->error));
            } else if (auto* stopped = std::get_if<store::RunStopped>(&event)) {
                return tl::unexpected<Error>(std::move(stopped->error));
            }
        }
        return {};
    }
    Expected<void> wait()
    {
        {
            std::unique_lock lock(mutex);
            came.wait_for(lock, std::chrono::milliseconds(20), [this] { return isSet; });
            isSet = false;
        }
        return takeEvents();
    }
    Expected<void> open(store::StreamRequest request)
    {
        isOpen = false;
        seq = 0;
        if (!sink.openStream(std::move(request)))
            return failure(ErrorCode::Busy, "the store is held up", "try again later");
        Expected<void> ok;
        while (ok && !isOpen)
            ok = wait();
        return ok;
    }
    Expected<void> submit(const std::shared_ptr<SampleBatch>& batch)
    {
        batch->stream = stream;
        batch->seq = ++seq;
        for (const StepBlock& block : batch->blocks) {
            batch->samples += sampleCount(block);
            batch->scalars += presentScalars(block);
        }
        report.samples += batch->samples;
        report.scalars += batch->scalars;
        produced.samples += batch->samples;
        produced.scalars += batch->scalars;
        Expected<void> ok = takeEvents();
        while (ok && !sink.submit(batch))
            ok = wait();
        return ok;
    }
    void close()
    {
        produced.isFinal = true;
        sink.closeStream(stream, "finished", seq, std::exchange(produced, {}));
    }

    StoreSink sink;
    std::mutex mutex;
    std::condition_variable came;
    bool isSet = false, isOpen = false;
    StreamId stream;
    store::RunRef run;
    std::uint64_t seq = 0;
    Produced produced;
    ForeignReport report;
    std::string key = randomKey();
    int worldSize = 1;
    exchange::ForeignReader::Progress progress;
    double done = 0, all = 1; ///< processes
};

ForeignImport::ForeignImport()
    : m_folder(makeFolder())
{
}

ForeignImport::~ForeignImport()
{
    std::error_code error;
    if (!m_folder.empty())
        fs::remove_all(m_folder, error);
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
    store::StreamRequest request;
    request.runKey = feed.key;
    request.runName = protocol::toName(run.name);
    request.keySource = "run_id";
    request.agentId = fmt::format("import/{}/{}", process.rank().value, process.attempt());
    request.host = process.host;
    request.incarnation = static_cast<std::uint64_t>(process.attempt()) + 1;
    request.restartCount = process.attempt();
    request.rank = process.rank();
    request.worldSize = feed.worldSize;
    request.dp = process.dp;
    request.tp = process.tp;
    request.pp = process.pp;
    request.ep = process.ep;
    request.framework = process.framework;
    request.device = process.device;
    request.agentVersion = "import";
    if (auto ok = feed.open(std::move(request)); !ok)
        return ok;
    auto batch = std::make_shared<SampleBatch>();
    batch->layouts = blocks.layouts();
    std::size_t number = 0;
    for (exchange::ForeignDocument& document : process.documents) {
        const std::size_t size = protocol::limits::kMaxBlobPartBytes;
        const std::size_t parts = std::max<std::size_t>((document.bytes.size() + size - 1) / size, 1);
        ++number;
        for (std::size_t part = 0; part < parts; ++part) {
            Blob blob { fmt::format("import-{}", number), static_cast<std::uint32_t>(part),
                static_cast<std::uint32_t>(parts), document.kind, protocol::toName(document.name), document.step,
                document.bytes.substr(part * size, size) };
            if (!protocol::checkBlob(blob)) {
                run.leaveOut("documents that a run cannot hold");
                break;
            }
            batch->blobs.push_back(std::move(blob));
        }
        if (batch->byteCost() > kBatchBytes) {
            if (auto ok = feed.submit(std::exchange(batch, std::make_shared<SampleBatch>())); !ok)
                return ok;
        }
    }
    for (Event& event : process.events) {
        protocol::mendNames(event);
        event.text = protocol::toUtf8(event.text);
        if (protocol::checkEvent(event))
            batch->events.push_back(std::move(event));
        else
            run.leaveOut("records of a log that a run cannot hold");
    }
    std::size_t bytes = batch->byteCost();
    while (blocks.done() < blocks.size()) {
        StepBlock block = blocks.next();
        bytes += block.layout->cells() * block.columns.size() * sizeof(double);
        batch->blocks.push_back(std::move(block));
        if (bytes < kBatchBytes)
            continue;
        bytes = 0;
        if (auto ok = feed.submit(std::exchange(batch, std::make_shared<SampleBatch>())); !ok)
            return ok;
        const double share = static_cast<double>(blocks.done()) / static_cast<double>(blocks.size());
        if (auto on = exchange::goOn(feed.progress, (feed.done + share) / feed.all); !on)
            return on;
    }
    auto ok = feed.submit(batch);
    feed.close();
    return ok;
}

Expected<ForeignReport> ForeignImport::write(
    exchange::ForeignRun& run, const exchange::ForeignReader::Progress& progress)
{
    m_home.check();
    if (m_folder.empty())
        return fileError("make", "a folder for temporary files");
    store::StoreOptions options;
    options.dataDir = m_folder;
    options.commitMs = 1000;
    options.commitBytes = 16u << 20;
    auto service = store::StoreService::start(options);
    if (!service)
        return tl::unexpected<Error>(std::move(service.error()));
    ForeignReport report;
    std::string capsule;
    {
        Feed feed(**service);
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
        if (!(*service)->flush(std::chrono::milliseconds(kSettleMs)))
            return failure(ErrorCode::Io, "the run does not become durable");
        if (auto ok = feed.takeEvents(); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        if (feed.run)
            capsule = feed.run->locator.text();
        report = feed.report;
    }
    (*service)->stop(kSettleMs);
    if (auto ok = setCreated(capsule, run.createdNs); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    report.capsule = capsule;
    report.name = run.name;
    report.processes = static_cast<int>(run.processes().size());
    return report;
}

Expected<store::ImportedRun> importAnything(const std::string& dataDir, const std::string& path)
{
    const exchange::ForeignReader* reader = exchange::findForeignReader(path);
    std::error_code error;
    if (std::string_view(reader ? reader->id() : "") == "telltale" || (!reader && !fs::is_directory(path, error)))
        return store::importRun(dataDir, path);
    const std::vector<fs::path> paths { path };
    auto run = exchange::readForeign(paths);
    if (!run)
        return tl::unexpected<Error>(std::move(run.error()));
    ForeignImport import;
    auto written = import.write(*run);
    if (!written)
        return tl::unexpected<Error>(std::move(written.error()));
    auto taken = store::importRun(dataDir, written->capsule);
    if (!taken)
        return taken;
    taken->damage.insert(taken->damage.end(), run->damages().begin(), run->damages().end());
    for (const auto& [what, count] : run->leftOut())
        taken->damage.push_back(fmt::format("left out: {} ({})", what, count));
    return taken;
}

}
