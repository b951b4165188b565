// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/followimport.h>

#include <algorithm>
#include <random>
#include <utility>

#include <telltale/exchange/eventfiles.h>
#include <telltale/exchange/foreignreader.h>
#include <telltale/ingest/foreignparts.h>
#include <telltale/protocol/datarules.h>

namespace telltale::ingest {
namespace {

// What one message of an agent may hold: a server takes these batches, too.
constexpr std::size_t kFollowedBytes = 256u << 10;
constexpr std::size_t kFollowedBlocks = 400;

}

struct FollowImport::Process {
    std::size_t stream = 0;
    exchange::FollowBlocks blocks { [](SeriesDesc& desc) { return protocol::mendNames(desc); } };
    std::size_t documents = 0;
};

FollowImport::FollowImport(std::vector<std::filesystem::path> paths, ImportTarget& target, bool isAgain)
    : m_follower(paths)
    , m_target(target)
    , m_paths(std::move(paths))
    , m_key(isAgain ? newImportKey() : std::string())
{
    m_run.name = m_paths.empty() ? std::string() : exchange::foreignName(m_paths.front());
}

FollowImport::~FollowImport() = default;

/// Event files have their time in their names: another training in the same folder is another run.
Expected<void> FollowImport::findRun()
{
    std::string first;
    for (const auto& path : m_paths) {
        for (const exchange::EventFile& file : exchange::findEventFiles(path)) {
            const std::string name = file.path.filename().string();
            first = first.empty() ? name : std::min(first, name);
        }
    }
    m_key = followKey(m_paths, first);
    const auto found = m_target.find(requestForRun(m_key));
    if (!found || found->id.empty())
        return found ? Expected<void>() : tl::unexpected<Error>(found.error());
    auto before = FollowedBefore::read(found->locator.text());
    if (!before)
        return failure(ErrorCode::Io,
            "it was followed into run " + found->id + ", which cannot be read: " + before.error().sentence(),
            "follow it where that run is, or into a new one with --again");
    m_before = std::move(*before);
    return {};
}

Expected<FollowImport::Process*> FollowImport::processOf(const exchange::EventFollower::News& news)
{
    std::unique_ptr<Process>& process = m_processes[{ news.process.rank(), news.attempt }];
    if (process)
        return process.get();
    if (auto ok = m_key.empty() ? findRun() : Expected<void>(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    auto fresh = std::make_unique<Process>();
    Produced before;
    if (m_before) {
        before = m_before->producedBy(news.process.rank(), news.attempt);
        m_before->prepare(fresh->blocks, news.process.rank(), news.attempt);
        fresh->documents = std::random_device()(); // their names here are new ones
    }
    m_worldSize = std::max(m_worldSize, news.process.rank().value + 1);
    auto request = requestFor(news.process, news.attempt, m_key, m_run.name);
    request.framework = "TensorBoard";
    request.worldSize = m_worldSize;
    const auto stream = m_target.open(std::move(request), before);
    if (!stream)
        return tl::unexpected<Error>(stream.error());
    fresh->stream = *stream;
    process = std::move(fresh);
    return process.get();
}

Expected<void> FollowImport::submit(Process& process, const std::shared_ptr<SampleBatch>& batch)
{
    auto ok = m_target.submit(process.stream, batch);
    m_report.samples += batch->samples;
    m_report.scalars += batch->scalars;
    return ok;
}

Expected<void> FollowImport::take(const exchange::EventFollower::News& news)
{
    const auto process = processOf(news);
    if (!process)
        return tl::unexpected<Error>(process.error());
    Process& to = **process;
    for (const auto& [step, ns] : news.process.times())
        m_run.createdNs = m_run.createdNs == 0 ? ns : std::min(m_run.createdNs, ns);
    if (m_before)
        m_before->leaveStored(news.process, news.attempt);
    auto batch = std::make_shared<SampleBatch>();
    const auto hand = [&] { return submit(to, std::exchange(batch, std::make_shared<SampleBatch>())); };
    while (takeDocuments(news.process, m_run, to.documents, kFollowedBytes, *batch)) {
        if (auto ok = hand(); !ok)
            return ok;
    }
    const std::size_t before = to.blocks.series();
    auto found = to.blocks.take(news.process, news.held, m_run);
    if (auto ok = protocol::checkSeriesCount(before, to.blocks.series() - before); !ok)
        return ok;
    m_report.series += to.blocks.series() - before;
    std::size_t bytes = batch->byteCost();
    for (auto& layout : found.layouts) {
        bytes += layout->series.size() * sizeof(SeriesDesc);
        batch->layouts.push_back(std::move(layout));
        if (bytes > kFollowedBytes) {
            if (auto ok = hand(); !ok)
                return ok;
            bytes = 0;
        }
    }
    for (StepBlock& block : found.blocks) {
        bytes += block.layout->cells() * sizeof(double);
        batch->blocks.push_back(std::move(block));
        if (bytes > kFollowedBytes || batch->blocks.size() >= kFollowedBlocks) {
            if (auto ok = hand(); !ok)
                return ok;
            bytes = 0;
        }
    }
    const bool isEmpty = batch->layouts.empty() && batch->blocks.empty() && batch->blobs.empty();
    return isEmpty ? Expected<void>() : hand();
}

Expected<std::uint64_t> FollowImport::advance(bool isLast)
{
    m_home.check();
    auto came = m_follower.advance(
        m_run, [this](const exchange::EventFollower::News& news) { return take(news); }, isLast);
    if (auto ok = m_target.turn(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return came;
}

Expected<void> FollowImport::finish(const std::string& reason)
{
    if (auto last = advance(true); !last)
        return tl::unexpected<Error>(std::move(last.error()));
    for (const auto& [key, process] : m_processes) {
        if (auto ok = m_target.close(process->stream, reason); !ok)
            return ok;
    }
    return {};
}

Expected<void> FollowImport::interrupt()
{
    const auto last = advance(true);
    return last ? m_target.settle() : tl::unexpected<Error>(last.error());
}

ForeignReport FollowImport::report() const
{
    ForeignReport report = m_report;
    report.capsule = m_target.capsule();
    report.name = m_run.name;
    report.processes = static_cast<int>(m_processes.size());
    return report;
}

}
