// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/eventreader.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include <telltale/core/histogram.h>
#include <telltale/exchange/eventfiles.h>
#include <telltale/exchange/eventrecords.h>
#include <telltale/exchange/eventvalues.h>
#include <telltale/exchange/mappedfile.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;

Expected<void> readFile(const EventFile& file, ForeignProcess& process, ForeignRun& run,
    const std::function<Expected<void>(std::size_t)>& goOnAt)
{
    const auto mapped = MappedFile::open(file.path);
    if (!mapped) {
        run.noteDamage(mapped.error().sentence());
        return {};
    }
    EventRecords records(mapped->bytes());
    EventValues values(file, process, run);
    std::size_t count = 0;
    while (records.next()) {
        if (++count % 65536 == 0) {
            if (auto on = goOnAt(records.offset()); !on)
                return on;
        }
        values.take(records);
    }
    values.settleHistograms();
    if (std::string what = records.damageText(); !what.empty())
        run.noteDamage(file.path.string() + ": " + what);
    else if (count == 0)
        run.noteDamage(file.path.string() + ": there is no record in it");
    return {};
}

/// Whether a file measures again what is there already: then its training began again.
bool overlaps(const ForeignProcess& before, const ForeignProcess& file)
{
    std::unordered_map<std::string, std::pair<std::int64_t, std::int64_t>> last;
    for (const ForeignSeries& series : before.all()) {
        for (const Track& track : series.tracks) {
            if (!track.steps.empty())
                last[series.desc.name + '\0' + series.desc.slot.text() + '\0'
                    + std::to_string(static_cast<int>(track.stat)) + std::to_string(static_cast<int>(series.kind)) + ':'
                    + std::to_string(series.desc.microStep)]
                    = { track.steps.front(), *std::max_element(track.steps.begin(), track.steps.end()) };
        }
    }
    for (const ForeignSeries& series : file.all()) {
        for (const Track& track : series.tracks) {
            const auto known = last.find(series.desc.name + '\0' + series.desc.slot.text() + '\0'
                + std::to_string(static_cast<int>(track.stat)) + std::to_string(static_cast<int>(series.kind)) + ':'
                + std::to_string(series.desc.microStep));
            if (known != last.end() && !track.steps.empty() && track.steps.front() <= known->second.second)
                return true;
        }
    }
    return false;
}

}

bool EventReader::claims(const fs::path& path) const
{
    return !findEventFiles(path, true).empty();
}

Expected<void> EventReader::read(const fs::path& path, ForeignRun& run, const Progress& progress) const
{
    const std::vector<EventFile> files = findEventFiles(path);
    double all = 1, done = 0;
    for (const EventFile& file : files)
        all += static_cast<double>(file.bytes);
    std::map<Rank, int> begun; // attempts of a rank that were there before
    std::map<std::tuple<Rank, int, std::string>, int> attempts; // of a folder: its newest
    for (const EventFile& file : files) {
        begun.try_emplace(file.rank, run.attemptsOf(file.rank));
        ForeignProcess read(file.rank, 0);
        if (auto ok = readFile(file, read, run,
                [&](std::size_t at) { return goOn(progress, (done + static_cast<double>(at)) / all); });
            !ok)
            return ok;
        done += static_cast<double>(file.bytes);
        const auto [at, isFirst]
            = attempts.try_emplace({ file.rank, file.attempt, file.folder }, begun[file.rank] + file.attempt);
        if (!isFirst && overlaps(run.process(file.rank, at->second), read))
            ++at->second;
        ForeignProcess& into = run.process(file.rank, at->second);
        into.framework = "TensorBoard";
        for (const auto& [step, ns] : read.times())
            run.createdNs = run.createdNs == 0 ? ns : std::min(run.createdNs, ns);
        into.absorb(read);
    }
    return {};
}

}
