// SPDX-License-Identifier: GPL-3.0-or-later
#include "foreigntake.h"

#include <thread>

#include <fmt/format.h>

#include <telltale/core/plaintext.h>
#include <telltale/exchange/foreignreader.h>
#include <telltale/ingest/followimport.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/ingest/foreignparts.h>

#include "interruptible.h"

namespace telltale::app {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLookEvery { 250 };

nlohmann::json foreignJson(const std::vector<fs::path>& paths, const std::string& format, const std::string& id,
    const ingest::ForeignReport& report, const exchange::ForeignRun& run, bool isNew)
{
    auto words = nlohmann::json::array();
    for (const fs::path& path : paths)
        words.push_back(path.string());
    auto leftOut = nlohmann::json::array();
    for (const auto& [what, count] : run.leftOut())
        leftOut.push_back({ { "what", what }, { "count", count } });
    return { { "paths", words }, { "format", format }, { "run", id }, { "new", isNew }, { "name", run.name },
        { "capsule", report.capsule }, { "processes", report.processes }, { "series", report.series },
        { "samples", report.samples }, { "scalars", report.scalars }, { "left_out", leftOut },
        { "damages", run.damages() } };
}

}

Expected<nlohmann::json> takeForeign(Importer& importer, const std::string& dataDir, const std::vector<fs::path>& paths,
    bool isAgain, ProgressLine& line)
{
    const exchange::ForeignReader* format = exchange::findForeignReader(paths.front());
    const std::string formatId = format ? format->id() : "";
    const std::string key = isAgain ? ingest::newImportKey() : ingest::importKey(paths);
    const auto before = importer.find(ingest::requestForRun(key));
    if (!before)
        return tl::unexpected<Error>(before.error());
    if (!before->id.empty()) {
        ingest::ForeignReport nothing;
        nothing.capsule = before->locator.text();
        exchange::ForeignRun run;
        run.name = store::describeRun(before->locator).name;
        return foreignJson(paths, formatId, before->id, nothing, run, false);
    }
    const std::string what = paths.front().filename().string();
    const auto goesOn = [&](const char* verb, double from) {
        return [&line, label = fmt::format("{} {}", verb, what), from](double share) {
            line.show(label, from + share / 2);
            return !Interruptible::wasAsked();
        };
    };
    auto run = exchange::readForeign(paths, goesOn("reading", 0));
    if (!run)
        return tl::unexpected<Error>(std::move(run.error()));
    ingest::ForeignImport import(dataDir);
    auto written = import.write(*run, key, goesOn("writing", 0.5));
    if (!written)
        return tl::unexpected<Error>(std::move(written.error()));
    auto taken = importer.takeDraft(written->capsule);
    line.clear();
    if (!taken)
        return tl::unexpected<Error>(std::move(taken.error()));
    written->capsule = taken->locator.text();
    return foreignJson(paths, formatId, taken->id, *written, *run, true);
}

Expected<std::optional<std::chrono::seconds>> idleOf(const Args& args)
{
    const auto text = args.value("--idle");
    if (!text)
        return std::optional<std::chrono::seconds>();
    if (!args.has("--follow"))
        return failure(ErrorCode::BadInput, "--idle goes with --follow");
    const auto seconds = parseInteger("--idle", *text);
    if (!seconds)
        return tl::unexpected<Error>(seconds.error());
    if (*seconds < 1 || *seconds > 1'000'000)
        return failure(ErrorCode::BadInput, "--idle " + *text + " is not from 1 to 1000000 seconds");
    return std::optional(std::chrono::seconds(*seconds));
}

Expected<nlohmann::json> followForeign(Importer& importer, const std::vector<fs::path>& paths, bool isAgain,
    std::optional<std::chrono::seconds> idle, ProgressLine& line)
{
    using Clock = std::chrono::steady_clock;
    const auto target = importer.target();
    ingest::FollowImport import(paths, *target, isAgain);
    auto last = Clock::now();
    bool isIdle = false;
    while (!isIdle && !Interruptible::wasAsked()) {
        const auto came = import.advance();
        if (!came)
            return tl::unexpected<Error>(came.error());
        const auto now = Clock::now();
        if (*came > 0)
            last = now;
        isIdle = idle && now - last >= *idle;
        const auto report = import.report();
        line.show(fmt::format("following {}: {}, {}, Ctrl+C ends it", paths.front().filename().string(),
            countText(import.files(), "file", "files"), countText(report.samples + report.scalars, "value", "values")));
        if (*came == 0 && !isIdle)
            std::this_thread::sleep_for(kLookEvery);
    }
    line.clear();
    // Whoever was interrupted does not know how the training ends.
    const auto ended = isIdle ? import.finish("finished") : import.interrupt();
    if (!ended)
        return tl::unexpected<Error>(ended.error());
    if (import.report().processes == 0)
        return failure(ErrorCode::NotFound, "no event file came in " + paths.front().string());
    auto json = foreignJson(paths, "tensorboard", target->runId(), import.report(), import.run(), !import.goesOn());
    json["ended"] = isIdle ? "idle" : "interrupted";
    return json;
}

}
