// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/foreignreader.h>

#include <algorithm>

#include <telltale/exchange/arrowreader.h>
#include <telltale/exchange/eventreader.h>
#include <telltale/exchange/msprobereader.h>
#include <telltale/exchange/probereader.h>
#include <telltale/exchange/runsreader.h>
#include <telltale/exchange/telltalecsvreader.h>
#include <telltale/exchange/trenddbreader.h>
#include <telltale/exchange/widecsvreader.h>

namespace telltale::exchange {

std::string foreignName(const std::filesystem::path& path)
{
    std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    if (!whole.has_filename())
        whole = whole.parent_path();
    const std::string own = whole.filename().string();
    constexpr std::string_view kPlain[] { "out", "output", "tb", "log", "logs", "runs", "tensorboard", "events",
        "monitor_output" };
    const bool isPlain = std::find(std::begin(kPlain), std::end(kPlain), own) != std::end(kPlain);
    const std::string above = whole.parent_path().filename().string();
    return isPlain && !above.empty() ? above + '/' + own : own;
}

std::span<const ForeignReader* const> foreignReaders()
{
    static const RunsReader runs;
    static const TrendDbReader trendDb;
    static const TelltaleCsvReader csv;
    static const MsprobeReader msprobe;
    static const ProbeReader probe;
    static const WideCsvReader wide;
    static const EventReader events;
    static const ArrowReader arrow;
    static const ForeignReader* const kAll[] { &runs, &trendDb, &csv, &msprobe, &probe, &wide, &events, &arrow };
    return kAll;
}

const ForeignReader* findForeignReader(const std::filesystem::path& path)
{
    const auto all = foreignReaders();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto* one) { return one->claims(path); });
    return found == all.end() ? nullptr : *found;
}

std::string foreignFormatIds()
{
    std::string ids;
    for (const ForeignReader* one : foreignReaders())
        ids += (ids.empty() ? "" : ", ") + std::string(one->id());
    return ids;
}

Expected<ForeignRun> readForeign(std::span<const std::filesystem::path> paths, const ForeignReader::Progress& progress)
{
    ForeignRun run;
    std::string name;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const ForeignReader* reader = findForeignReader(paths[i]);
        std::error_code error;
        if (!std::filesystem::exists(paths[i], error))
            return failure(ErrorCode::NotFound, "there is no file or folder " + paths[i].string());
        if (!reader)
            return failure(ErrorCode::BadInput, paths[i].string() + " is of no format that is known here",
                "choose something of " + foreignFormatIds() + ", or a spool");
        const auto part = [&](double share) {
            return !progress || progress((static_cast<double>(i) + share) / static_cast<double>(paths.size()));
        };
        if (auto ok = reader->read(paths[i], run, part); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        for (const ForeignReader* other : foreignReaders()) {
            if (other != reader && other->claims(paths[i]))
                run.leaveOut(std::string("files of the format ") + other->id()
                    + " that lie there, too (import them by "
                      "themselves)");
        }
        if (auto on = goOn(part, 1); !on)
            return tl::unexpected<Error>(std::move(on.error()));
        if (name.empty())
            name = foreignName(paths[i]);
    }
    if (run.name.empty())
        run.name = name;
    const bool hasAny = std::any_of(run.processes().begin(), run.processes().end(),
        [](const auto& one) { return !one.second.documents.empty() || !one.second.events.empty(); });
    if (run.values() == 0 && !hasAny && !run.damages().empty())
        return failure(ErrorCode::BadInput, run.damages().front());
    if (run.values() == 0 && !hasAny)
        return failure(ErrorCode::BadInput,
            paths.front().string() + ": there is nothing in it that a run could hold"
                + (run.leftOut().empty() ? "" : ": " + run.leftOut().begin()->first));
    return run;
}

}
