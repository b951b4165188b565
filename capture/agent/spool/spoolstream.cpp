// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/spoolstream.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <telltale/protocol/codec.h>

namespace fs = std::filesystem;

namespace telltale::agent {
namespace {

/// All runs / a run / a stream: no deeper, or a folder such as /tmp would give others' spools away.
constexpr int kDeepest = 2;
/// What stands in for a lost batch is about as large; the rules learn its size before it is sent.
constexpr std::size_t kLostBytes = 256;

bool isSpool(const fs::path& folder)
{
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".seg")
            return true;
    }
    return false;
}

void collect(const fs::path& folder, int depth, std::vector<std::pair<fs::file_time_type, fs::path>>& out)
{
    std::error_code error;
    if (isSpool(folder)) {
        out.emplace_back(fs::last_write_time(folder, error), folder);
        return;
    }
    if (depth == 0)
        return;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.is_directory(error) && !entry.is_symlink(error))
            collect(entry.path(), depth - 1, out);
    }
}

using Record = Spool::Recovered::Record;

/// Samples and scalars of a record, from its header or, in the oldest format, from its payload.
LostBatch contentsOf(Spool& spool, const protocol::LayoutTable& layouts, const Record& record)
{
    if (record.hasFacts)
        return { record.facts.samples, record.facts.scalars, record.facts.steps, true, {} };
    LostBatch contents;
    contents.isExact = false;
    const auto payload = spool.read(record.place);
    if (const auto batch = payload ? protocol::decodePayload(*payload, layouts) : failure(ErrorCode::Damaged, {})) {
        contents.samples = batch->samples;
        contents.scalars = batch->scalars;
    }
    return contents;
}

/// What `missing` batches between two records held. Where both say what the stream had produced until then, that is
/// known; else they are taken for as large as the one beside them.
LostBatch between(Spool& spool, const protocol::LayoutTable& layouts, const Record& before, const Record* after,
    std::uint64_t missing)
{
    LostBatch lost;
    lost.why = "the spool is damaged";
    if (before.hasFacts && after && after->hasFacts) {
        const std::uint64_t samples = after->facts.samplesBefore - before.facts.samplesBefore - before.facts.samples;
        const std::uint64_t scalars = after->facts.scalarsBefore - before.facts.scalarsBefore - before.facts.scalars;
        const std::uint64_t most = missing * spoolrecord::kMaxSamples;
        if (samples <= most && scalars <= most) {
            lost.samples = samples;
            lost.scalars = scalars;
            lost.steps = { before.facts.steps.last, std::max(before.facts.steps.last, after->facts.steps.first) };
            return lost;
        }
    }
    const LostBatch beside = contentsOf(spool, layouts, before);
    lost.isExact = false;
    lost.samples = missing * std::max<std::uint64_t>(1, beside.samples);
    lost.scalars = missing * beside.scalars;
    lost.steps = { beside.steps.last, beside.steps.last };
    return lost;
}

}

std::vector<fs::path> findSpools(const fs::path& folder)
{
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    collect(folder, kDeepest, found);
    std::sort(found.begin(), found.end());
    std::vector<fs::path> paths;
    paths.reserve(found.size());
    for (auto& [age, path] : found)
        paths.push_back(std::move(path));
    return paths;
}

Expected<SpooledStream> openSpooledStream(
    const fs::path& folder, std::uint64_t capBytes, const std::atomic<bool>* canceled, std::shared_ptr<Disk> disk)
{
    SpooledStream out;
    auto stream = std::make_unique<Stream>(protocol::Hello {}, folder, capBytes, std::move(disk));
    Spool& spool = stream->disk.spool();
    auto recovered = spool.recover(canceled);
    if (!recovered)
        return tl::unexpected(std::move(recovered.error()));
    out.byeReason = recovered->bye.reason;
    out.damages = std::move(recovered->damages);
    const bool isReadable = out.damages.empty();
    out.damages.insert(out.damages.end(), recovered->empty.begin(), recovered->empty.end());
    if (recovered->records.empty()) {
        // What cannot be read stays where it is, for whoever can.
        if (isReadable)
            spool.forgetUpTo(0);
        spool.removeIfEmpty();
        return out;
    }
    const auto message = protocol::decodeMessage(recovered->hello);
    const auto* hello = message ? std::get_if<protocol::Hello>(&*message) : nullptr;
    if (!hello)
        return failure(ErrorCode::Damaged,
            fmt::format("{} batches in {} cannot be delivered: what says whose they are is damaged",
                recovered->records.size(), folder.string()),
            "the files stay as they are");
    stream->hello = *hello;
    stream->layouts = std::move(recovered->layouts);
    const auto addLost = [&](std::uint64_t seq, std::optional<LostBatch> lost) {
        stream->held.addLost(seq, std::move(lost));
        stream->rules.onProduced(seq, kLostBytes);
    };
    const Record& first = recovered->records.front();
    const bool isFirst
        = first.seq == 1 || (first.hasFacts && first.facts.samplesBefore + first.facts.scalarsBefore == 0);
    if (recovered->isDamagedBefore && !isFirst)
        addLost(first.seq - 1, between(spool, stream->layouts, first, nullptr, 1));
    const Record* before = nullptr;
    std::uint64_t next = recovered->records.front().seq;
    for (const Record& record : recovered->records) {
        if (before && next < record.seq) {
            addLost(next, between(spool, stream->layouts, *before, &record, record.seq - next));
            while (++next < record.seq)
                addLost(next, std::nullopt);
        }
        before = &record;
        next = record.seq + 1;
        if (!record.isWhole) {
            LostBatch lost = contentsOf(spool, stream->layouts, record);
            lost.why = "the spool is damaged";
            addLost(record.seq, std::move(lost));
            continue;
        }
        const spoolrecord::Facts& facts = record.facts;
        stream->held.addSpooled(
            record.seq, record.place, { facts.samples, facts.scalars, nullptr, facts.steps, record.hasFacts });
        stream->rules.onProduced(record.seq, record.place.bytes);
    }
    // What followed the last that is here: one batch at least, or as many as the process said that it had made.
    const std::uint64_t lastSeq = recovered->isDamagedBehind ? next : recovered->bye.lastSeq;
    if (next <= lastSeq && lastSeq - next < Spool::kMaxHole) {
        addLost(next, between(spool, stream->layouts, *before, nullptr, lastSeq - next + 1));
        while (++next <= lastSeq)
            addLost(next, std::nullopt);
    }
    out.stream = std::move(stream);
    return out;
}

}
