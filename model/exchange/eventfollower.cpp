// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/eventfollower.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <telltale/core/privatefiles.h>
#include <telltale/exchange/eventrecords.h>
#include <telltale/exchange/eventvalues.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFollowedPart = 1u << 20; ///< read at once
constexpr int kQuietLooks = 4; ///< without a new byte, until a step is taken as whole

}

struct EventFollower::Followed {
    Followed(EventFile found, ForeignRun& run)
        : file(std::move(found))
        , process(file.rank, file.attempt)
        , values(file, process, run)
    {
    }

    /// Appends at most a part of the file; how many bytes came.
    Expected<std::size_t> readPart()
    {
        // Not mapped: who cuts the file off meanwhile would end us. Not kept open: there may be thousands.
        const int fd = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            return fileError("read", file.path.string());
        struct stat facts { };
        ssize_t got = 0;
        const std::size_t before = bytes.size();
        if (::fstat(fd, &facts) == 0 && facts.st_size > static_cast<off_t>(read)) {
            bytes.resize(before + kFollowedPart);
            got = ::pread(fd, bytes.data() + before, kFollowedPart, static_cast<off_t>(read));
            bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        }
        isShorter = facts.st_size < static_cast<off_t>(read);
        ::close(fd);
        if (got < 0)
            return fileError("read", file.path.string());
        read += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
    }

    EventFile file;
    ForeignProcess process;
    EventValues values;
    EventRecords records { {} };
    std::string bytes; ///< that no record was made of yet
    std::uint64_t read = 0; ///< bytes of the file
    std::optional<std::int64_t> step; ///< of the newest value
    std::optional<int> attempt; ///< once it has a value
    int quiet = 0;
    bool isShorter = false, isTold = false;
    std::map<std::pair<const ForeignSeries*, Stat>, std::int64_t> last; ///< step that it has of a series
};

EventFollower::EventFollower(std::vector<std::filesystem::path> paths)
    : m_paths(std::move(paths))
{
}

EventFollower::~EventFollower() = default;

void EventFollower::findFiles(ForeignRun& run)
{
    for (const fs::path& path : m_paths) {
        for (EventFile& file : findEventFiles(path)) {
            const auto [at, isNew] = m_byPath.try_emplace(file.path, nullptr);
            if (!isNew)
                continue;
            m_files.push_back(std::make_unique<Followed>(std::move(file), run));
            at->second = m_files.back().get();
        }
    }
}

/// A file that measures again what one before it has: its training began again.
void EventFollower::chooseAttempt(Followed& file)
{
    std::unordered_map<std::string, std::int64_t> begin;
    const auto keyOf = [](const ForeignSeries& series, Stat stat) {
        return std::to_string(static_cast<int>(series.kind)) + ' ' + std::to_string(static_cast<int>(stat)) + ' '
            + std::to_string(series.desc.microStep) + ' ' + series.desc.slot.text() + '\n' + series.desc.name;
    };
    for (const ForeignSeries& series : file.process.all()) {
        for (const Track& track : series.tracks) {
            if (!track.steps.empty())
                begin[keyOf(series, track.stat)] = track.steps.front();
        }
    }
    if (begin.empty())
        return;
    int attempt = file.file.attempt;
    for (const auto& other : m_files) {
        if (other->file.rank == file.file.rank && other->file.folder == file.file.folder
            && other->file.attempt == file.file.attempt && other->attempt)
            attempt = std::max(attempt, *other->attempt);
    }
    const auto isAgain = [&](const std::unique_ptr<Followed>& other) {
        return other->file.rank == file.file.rank && other->attempt == attempt
            && std::any_of(other->last.begin(), other->last.end(), [&](const auto& one) {
                   const auto found = begin.find(keyOf(*one.first.first, one.first.second));
                   return found != begin.end() && found->second <= one.second;
               });
    };
    file.attempt = attempt + (std::any_of(m_files.begin(), m_files.end(), isAgain) ? 1 : 0);
}

Expected<std::uint64_t> EventFollower::readOn(Followed& file, ForeignRun& run, const Take& take, bool isLast)
{
    std::uint64_t all = 0;
    const auto hand = [&](std::optional<std::int64_t> held) -> Expected<void> {
        if (!file.attempt)
            chooseAttempt(file);
        if (!file.attempt && file.process.documents.empty())
            return {};
        for (const ForeignSeries& series : file.process.all()) {
            for (const Track& track : series.tracks) {
                if (track.steps.empty())
                    continue;
                std::int64_t& last = file.last.try_emplace({ &series, track.stat }, track.steps.front()).first->second;
                last = std::max(last, *std::max_element(track.steps.begin(), track.steps.end()));
            }
        }
        return take({ file.process, file.attempt.value_or(file.file.attempt), held });
    };
    for (;;) {
        const auto came = file.readPart();
        if (!came || file.isShorter) {
            // It may come back; what was read of it stays.
            if (!std::exchange(file.isTold, true))
                run.noteDamage(came ? file.file.path.string()
                            + " was cut off while it was followed: what comes is read "
                              "from where it was"
                                    : came.error().sentence());
            return all;
        }
        if (*came == 0)
            break;
        file.isTold = false;
        file.quiet = 0;
        all += *came;
        file.records.goOnWith(file.bytes);
        while (file.records.next()) {
            file.values.take(file.records);
            file.step = file.values.step();
        }
        file.bytes.erase(0, file.records.offset());
        file.values.settleHistograms(true);
        if (auto ok = hand(file.step); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    if (isLast || (all == 0 && file.step && ++file.quiet == kQuietLooks)) {
        file.values.settleHistograms(!isLast);
        if (auto ok = hand(std::nullopt); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    if (isLast) {
        if (std::string what = file.records.damageText(); !what.empty())
            run.noteDamage(file.file.path.string() + ": " + what);
    }
    return all;
}

Expected<std::uint64_t> EventFollower::advance(ForeignRun& run, const Take& take, bool isLast)
{
    m_home.check();
    findFiles(run);
    std::uint64_t all = 0;
    for (const auto& file : m_files) {
        auto came = readOn(*file, run, take, isLast);
        if (!came)
            return came;
        all += *came;
    }
    return all;
}

}
