// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/foreignparts.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <telltale/protocol/datarules.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>

namespace telltale::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::streamsize kEndBytes = 16 << 10;

std::string keyOf(std::uint64_t number)
{
    return fmt::format("import-{:016x}", number);
}

/// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: the same in every program and version.
std::uint64_t hashOf(std::string_view text)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

/// The bytes with which a file begins and ends: two of one name, size and time need not be the same.
std::uint64_t endsOf(const fs::path& file, std::streamoff size)
{
    std::ifstream in(file, std::ios::binary);
    std::string bytes(2 * kEndBytes, '\0');
    in.read(bytes.data(), kEndBytes);
    in.clear();
    in.seekg(std::max<std::streamoff>(size - kEndBytes, 0));
    in.read(bytes.data() + kEndBytes, kEndBytes);
    return hashOf(bytes);
}

std::string factsOf(const fs::path& file, const fs::path& name)
{
    struct stat facts { };
    if (::stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return {};
    return fmt::format("{}\n{} {}.{:09} {:x}\n", name.native(), facts.st_size, facts.st_mtim.tv_sec,
        facts.st_mtim.tv_nsec, endsOf(file, facts.st_size));
}

}

std::string importKey(std::span<const fs::path> paths)
{
    std::vector<std::string> files;
    for (const fs::path& path : paths) {
        std::error_code error;
        files.push_back(factsOf(path, path.filename()));
        fs::recursive_directory_iterator entries(path, fs::directory_options::skip_permission_denied, error);
        for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error))
            files.push_back(factsOf(entries->path(), entries->path().lexically_relative(path)));
    }
    std::sort(files.begin(), files.end());
    return keyOf(hashOf(fmt::format("{}", fmt::join(files, ""))));
}

std::string followKey(std::span<const fs::path> paths, std::string_view firstFile)
{
    std::vector<std::string> places;
    for (const fs::path& path : paths) {
        std::error_code error;
        places.push_back(fs::weakly_canonical(path, error).native() + '\n');
    }
    std::sort(places.begin(), places.end());
    return keyOf(hashOf(fmt::format("follow\n{}{}", fmt::join(places, ""), firstFile)));
}

std::string newImportKey()
{
    std::random_device device;
    return keyOf(std::uint64_t { device() } << 32 | device());
}

std::string importAgent(Rank rank, int attempt)
{
    return fmt::format("import/{}/{}", rank.value, attempt);
}

store::StreamRequest requestForRun(const std::string& runKey)
{
    store::StreamRequest request;
    request.runKey = runKey;
    request.agentId = "import";
    return request;
}

store::StreamRequest requestFor(
    const exchange::ForeignProcess& process, int attempt, const std::string& runKey, const std::string& runName)
{
    store::StreamRequest request;
    request.runKey = runKey;
    request.runName = protocol::toName(runName);
    request.keySource = "run_id";
    request.agentId = importAgent(process.rank(), attempt);
    request.host = process.host;
    request.incarnation = static_cast<std::uint64_t>(attempt) + 1;
    request.restartCount = attempt;
    request.rank = process.rank();
    request.dp = process.dp;
    request.tp = process.tp;
    request.pp = process.pp;
    request.ep = process.ep;
    request.framework = process.framework;
    request.device = process.device;
    request.agentVersion = "import";
    return request;
}

bool takeDocuments(exchange::ForeignProcess& process, exchange::ForeignRun& run, std::size_t& number,
    std::size_t mostBytes, SampleBatch& batch)
{
    const std::size_t size = protocol::limits::kMaxBlobPartBytes;
    std::size_t bytes = 0;
    auto at = process.documents.begin();
    for (; at != process.documents.end() && bytes < mostBytes; ++at) {
        if (at->later) {
            auto read = at->later();
            if (!read) {
                run.noteDamage(read.error().sentence());
                continue;
            }
            at->bytes = std::move(*read);
        }
        const std::size_t parts = std::max<std::size_t>((at->bytes.size() + size - 1) / size, 1);
        ++number;
        for (std::size_t part = 0; part < parts; ++part) {
            Blob blob { fmt::format("import-{}", number), static_cast<std::uint32_t>(part),
                static_cast<std::uint32_t>(parts), at->kind, protocol::toName(at->name), at->step,
                at->bytes.substr(part * size, size) };
            if (!protocol::checkBlob(blob)) {
                run.leaveOut("documents that a run cannot hold");
                break;
            }
            bytes += blob.bytes.size();
            batch.blobs.push_back(std::move(blob));
        }
    }
    process.documents.erase(process.documents.begin(), at);
    return !process.documents.empty();
}

void takeEventsOf(exchange::ForeignProcess& process, exchange::ForeignRun& run, SampleBatch& batch)
{
    for (Event& event : process.events) {
        protocol::mendNames(event);
        event.text = protocol::toUtf8(event.text);
        if (protocol::checkEvent(event))
            batch.events.push_back(std::move(event));
        else
            run.leaveOut("records of a log that a run cannot hold");
    }
    process.events.clear();
}

}
