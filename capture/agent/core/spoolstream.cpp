// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/spoolstream.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <telltale/agent/session.h>
#include <telltale/protocol/codec.h>
#include <telltale/protocol/payloadbuilder.h>

namespace fs = std::filesystem;

namespace telltale::agent {
namespace {

/// All runs / a run / a stream: no deeper, or a folder such as /tmp would give others' spools away.
constexpr int kDeepest = 2;

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

}

std::string lostBatchPayload(const std::string& why)
{
    protocol::PayloadBuilder builder;
    Event event;
    event.kind = "gap";
    event.wallNs = clocksNow().wallNs;
    event.text = fmt::format("a batch is lost: {}", why);
    builder.addEvent(event);
    builder.setStepComplete(true);
    return builder.finish();
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
    const fs::path& folder, std::uint64_t capBytes, const std::atomic<bool>* cancelled)
{
    SpooledStream out;
    auto stream = std::make_unique<Stream>(protocol::Hello {}, folder, capBytes);
    auto recovered = stream->spool.recover(cancelled);
    if (!recovered)
        return tl::unexpected(std::move(recovered.error()));
    out.byeReason = std::move(recovered->byeReason);
    out.damages = recovered->damages;
    const auto message = protocol::decodeMessage(recovered->hello);
    const auto* hello = message ? std::get_if<protocol::Hello>(&*message) : nullptr;
    if (!hello || recovered->records.empty()) {
        stream->spool.forgetUpTo(0);
        stream->spool.removeIfEmpty();
        return out;
    }
    stream->hello = *hello;
    stream->layouts = std::move(recovered->layouts);
    const auto now = HeldStore::Clock::now();
    const auto addLost = [&](std::uint64_t seq, const std::string& why) {
        std::string payload = lostBatchPayload(why);
        const std::size_t bytes = payload.size();
        if (stream->held.add(seq, payload, { 0, 0, std::make_shared<const std::vector<LayoutId>>() }, now))
            stream->rules.onProduced(seq, bytes);
    };
    std::uint64_t next = recovered->records.front().seq;
    for (const Spool::Recovered::Record& record : recovered->records) {
        for (; next < record.seq; ++next)
            addLost(next, "the spool is damaged");
        stream->held.addSpooled(record.seq, record.place);
        stream->rules.onProduced(record.seq, record.place.bytes);
        ++next;
    }
    if (!recovered->damages.empty())
        addLost(next, recovered->damages.front());
    out.stream = std::move(stream);
    return out;
}

}
