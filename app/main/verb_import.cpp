// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/client/controlclient.h>
#include <telltale/client/servertarget.h>
#include <telltale/client/spooldelivery.h>
#include <telltale/core/plaintext.h>
#include <telltale/exchange/foreignreader.h>
#include <telltale/exchange/widecsvreader.h>
#include <telltale/ingest/followimport.h>
#include <telltale/ingest/foreignimport.h>
#include <telltale/ingest/spoolimport.h>
#include <telltale/ingest/storetarget.h>
#include <telltale/ingest/streamrequest.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/storeservice.h>

#include "interruptible.h"
#include "progressline.h"
#include "report.h"

namespace telltale::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCloseMs = 60'000;
constexpr std::chrono::milliseconds kLookEvery { 250 };

constexpr const char* kBusyHelp = "stop that Telltale first, or leave the spool to the next start of its agent, or "
                                  "name another --data-dir";

/// Who takes in what is imported.
class Importer {
public:
    virtual ~Importer() = default;
    virtual Expected<store::ImportedRun> takeRun(const std::string& path) = 0;
    /// A run that was made in a draft of its own, which nobody needs any more.
    virtual Expected<store::ImportedRun> takeDraft(const std::string& path) = 0;
    /// For a run that grows; nothing else is taken meanwhile.
    virtual std::unique_ptr<ingest::ImportTarget> target() = 0;
    /// Whether some run has the stream.
    virtual Expected<bool> knows(const protocol::Hello& stream) = 0;
    virtual Expected<ingest::SpoolReport> takeSpool(const fs::path& folder, ingest::SpoolImport::Found found) = 0;
    /// Where the runs are, for people.
    virtual std::string place() const = 0;
};

/// This process, under the data directory's lock.
class OwnImporter final : public Importer {
public:
    OwnImporter(std::string dataDir, std::unique_ptr<store::StoreService> service)
        : m_dataDir(std::move(dataDir))
        , m_service(std::move(service))
    {
    }
    ~OwnImporter() override
    {
        m_import.reset();
        m_service->stop(kCloseMs);
    }

    Expected<store::ImportedRun> takeRun(const std::string& path) override { return store::importRun(m_dataDir, path); }
    Expected<store::ImportedRun> takeDraft(const std::string& path) override
    {
        return store::adoptRun(m_dataDir, path);
    }
    std::unique_ptr<ingest::ImportTarget> target() override
    {
        m_import.reset();
        return std::make_unique<ingest::StoreTarget>(*m_service);
    }
    Expected<bool> knows(const protocol::Hello& stream) override
    {
        return !store::runWithStream(m_dataDir, ingest::requestOf(stream, 0)).isEmpty();
    }
    Expected<ingest::SpoolReport> takeSpool(const fs::path& folder, ingest::SpoolImport::Found found) override
    {
        return m_import->take(folder, std::move(found));
    }
    std::string place() const override { return m_dataDir; }

private:
    const std::string m_dataDir;
    const std::unique_ptr<store::StoreService> m_service;
    ingest::StoreSink m_sink { *m_service };
    std::optional<ingest::SpoolImport> m_import { m_sink };
};

/// The server that has the data directory.
class ServerImporter final : public Importer {
public:
    ServerImporter(std::unique_ptr<client::ControlClient> server, std::string place)
        : m_server(std::move(server))
        , m_place(std::move(place))
    {
    }

    Expected<store::ImportedRun> takeRun(const std::string& path) override { return m_server->importRun(path); }
    Expected<store::ImportedRun> takeDraft(const std::string& path) override { return m_server->importRun(path); }
    std::unique_ptr<ingest::ImportTarget> target() override
    {
        return std::make_unique<client::ServerTarget>(*m_server, [] { return !Interruptible::wasAsked(); });
    }
    Expected<bool> knows(const protocol::Hello& stream) override
    {
        const auto found = m_server->findStream(stream);
        return found ? Expected<bool>(!found->id.empty()) : tl::unexpected(found.error());
    }
    Expected<ingest::SpoolReport> takeSpool(const fs::path& folder, ingest::SpoolImport::Found found) override
    {
        const protocol::Hello stream = found.hello;
        if (!found.spooled.stream)
            return client::deliverSpool({}, folder, std::move(found));
        if (auto asked = m_server->findStream(stream); !asked)
            return tl::unexpected(asked.error());
        auto report = client::deliverSpool(m_server->agentJoin(), folder, std::move(found));
        if (const auto run = report ? m_server->findStream(stream) : tl::unexpected(report.error())) {
            report->runId = run->id;
            report->capsule = run->locator.text();
        }
        return report;
    }
    std::string place() const override { return m_place; }

private:
    const std::unique_ptr<client::ControlClient> m_server;
    const std::string m_place;
};

Expected<std::unique_ptr<Importer>> askServer(const protocol::JoinString& join, std::string place)
{
    auto server = client::ControlClient::connect(join);
    if (!server)
        return tl::unexpected(server.error());
    return std::make_unique<ServerImporter>(std::move(*server), std::move(place));
}

Expected<std::unique_ptr<Importer>> importerFor(const Args& args, const std::string& dataDir)
{
    const char* control = std::getenv("TELLTALE_CONTROL");
    if (control != nullptr && *control != '\0' && !args.has("--data-dir")) {
        const auto join = protocol::JoinString::parse(control);
        return join ? askServer(*join, join->host) : tl::unexpected(join.error());
    }
    store::StoreOptions options;
    options.dataDir = dataDir;
    auto service = store::StoreService::start(options);
    if (service)
        return std::make_unique<OwnImporter>(dataDir, std::move(*service));
    if (service.error().code != ErrorCode::Busy)
        return tl::unexpected(service.error());
    const auto join = client::controlJoin(dataDir);
    if (!join)
        return failure(ErrorCode::Busy, service.error().what, kBusyHelp);
    auto importer = askServer(*join, dataDir);
    if (!importer)
        importer.error().todo = kBusyHelp;
    return importer;
}

Expected<ingest::SpoolReport> importOne(Importer& importer, const fs::path& folder, bool mayBegin)
{
    auto found = ingest::SpoolImport::open(folder);
    if (!found)
        return tl::unexpected<Error>(std::move(found.error()));
    if (found->spooled.stream && found->hello.firstRetainedSeq > 1 && !mayBegin) {
        const auto knows = importer.knows(found->hello);
        if (!knows)
            return tl::unexpected(knows.error());
        if (!*knows)
            return failure(ErrorCode::BadInput,
                fmt::format("no run in {} has the beginning of {}", importer.place(), folder.string()),
                "name the --data-dir that recorded it, or add --new-run");
    }
    return importer.takeSpool(folder, std::move(*found));
}

nlohmann::json toJson(const ingest::SpoolReport& report)
{
    return { { "spool", report.folder }, { "run", report.runId }, { "run_key", report.runKey },
        { "capsule", report.capsule }, { "rank", report.rank.value }, { "agent_id", report.agentId },
        { "batches", report.batches }, { "delivered", report.isDelivered },
        { "samples", report.isDelivered ? nlohmann::json() : nlohmann::json(report.samples) },
        { "duplicates", report.duplicates }, { "rejected", report.rejected }, { "damages", report.damages } };
}

void writeText(std::ostream& out, const ingest::SpoolReport& report)
{
    if (report.isEmpty) {
        out << fmt::format("{}: empty\n", terminalText(report.folder));
        return;
    }
    if (report.isDelivered) {
        out << fmt::format("{}: {} delivered to the running Telltale, run {} (rank {})\n", terminalText(report.folder),
            countText(report.batches, "batch", "batches"), report.runId, report.rank.value);
        return;
    }
    out << fmt::format("{}: {}, {} into run {} (rank {})", terminalText(report.folder),
        countText(report.batches, "batch", "batches"), countText(report.samples, "sample", "samples"), report.runId,
        report.rank.value);
    if (report.duplicates > 0)
        out << fmt::format(", {} there already", report.duplicates);
    if (report.rejected > 0)
        out << fmt::format(", {} refused", report.rejected);
    out << '\n';
}

/// What the words name: runs of Telltale, spools, and what other tools recorded.
struct Wanted {
    std::vector<std::string> capsules;
    std::vector<fs::path> spools;
    std::vector<std::vector<fs::path>> foreign; ///< those of one run together
};

bool isCapsule(const std::string& word)
{
    std::error_code error;
    return fs::is_regular_file(word, error)
        && (fs::path(word).extension() == ".telltale" || exchange::findForeignReader(word) == nullptr
            || std::string_view(exchange::findForeignReader(word)->id()) == "telltale");
}

/// What is followed need not be there yet, but for its folder.
Expected<Wanted> followedOf(const std::vector<std::string>& words)
{
    Wanted wanted;
    wanted.foreign.emplace_back(words.begin(), words.end());
    for (const std::string& word : words) {
        std::error_code error;
        const exchange::ForeignReader* format = exchange::findForeignReader(word);
        if (!fs::exists(word, error))
            return failure(ErrorCode::NotFound, "there is no file or folder " + word);
        const bool isEvents = format ? std::string_view(format->id()) == "tensorboard" : fs::is_directory(word, error);
        if (!isEvents)
            return failure(ErrorCode::BadInput, word + " has no event files: they alone can be followed",
                "import it without --follow");
    }
    return wanted;
}

Expected<Wanted> wantedOf(const std::vector<std::string>& words, bool isOneRun)
{
    Wanted wanted;
    if (isOneRun) {
        wanted.foreign.emplace_back(words.begin(), words.end());
        return wanted;
    }
    for (const std::string& word : words) {
        std::error_code error;
        if (const std::string advice = exchange::parquetAdvice(word); !advice.empty())
            return failure(ErrorCode::BadInput, word + " is Parquet, which is read once it is csv", advice);
        if (isCapsule(word)) {
            wanted.capsules.push_back(word);
            continue;
        }
        if (!fs::exists(word, error))
            return failure(ErrorCode::NotFound, "there is no folder '" + word + "'");
        const auto found = fs::is_directory(word, error) ? agent::findSpools(word) : std::vector<fs::path>();
        wanted.spools.insert(wanted.spools.end(), found.begin(), found.end());
        if (!found.empty())
            continue;
        if (!exchange::findForeignReader(word))
            return failure(ErrorCode::NotFound, "there is no spool in " + word + ", and nothing of another format",
                "choose a spool, or something of " + exchange::foreignFormatIds());
        wanted.foreign.push_back({ word });
    }
    return wanted;
}

nlohmann::json foreignJson(const std::vector<fs::path>& paths, const std::string& format, const std::string& id,
    const ingest::ForeignReport& report, const exchange::ForeignRun& run)
{
    auto words = nlohmann::json::array();
    for (const fs::path& path : paths)
        words.push_back(path.string());
    auto leftOut = nlohmann::json::array();
    for (const auto& [what, count] : run.leftOut())
        leftOut.push_back({ { "what", what }, { "count", count } });
    return { { "paths", words }, { "format", format }, { "run", id }, { "name", run.name },
        { "capsule", report.capsule }, { "processes", report.processes }, { "series", report.series },
        { "samples", report.samples }, { "scalars", report.scalars }, { "left_out", leftOut },
        { "damages", run.damages() } };
}

/// A run that another tool recorded, through a capsule of its own.
Expected<nlohmann::json> takeForeign(
    Importer& importer, const std::string& dataDir, const std::vector<fs::path>& paths, ProgressLine& line)
{
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
    auto written = import.write(*run, goesOn("writing", 0.5));
    if (!written)
        return tl::unexpected<Error>(std::move(written.error()));
    auto taken = importer.takeDraft(written->capsule);
    line.clear();
    if (!taken)
        return tl::unexpected<Error>(std::move(taken.error()));
    const exchange::ForeignReader* format = exchange::findForeignReader(paths.front());
    written->capsule = taken->locator.text();
    return foreignJson(paths, format ? format->id() : "", taken->id, *written, *run);
}

/// How long nothing may come before a run that is followed is over; none: for ever.
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

/// Until nothing has come for a while, or the user has had enough.
Expected<nlohmann::json> follow(Importer& importer, const std::vector<fs::path>& paths,
    std::optional<std::chrono::seconds> idle, ProgressLine& line)
{
    using Clock = std::chrono::steady_clock;
    const auto target = importer.target();
    ingest::FollowImport import(paths, *target);
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
    auto json = foreignJson(paths, "tensorboard", target->runId(), import.report(), import.run());
    json["ended"] = isIdle ? "idle" : "interrupted";
    return json;
}

void writeForeign(std::ostream& out, const nlohmann::json& taken)
{
    out << fmt::format("{}: imported as run {} ({}, {}, {}, {})\n",
        terminalText(taken["paths"].front().get<std::string>()), terminalText(taken["run"].get<std::string>()),
        countText(taken["processes"].get<std::uint64_t>(), "process", "processes"),
        countText(taken["series"].get<std::uint64_t>(), "series", "series"),
        countText(taken["samples"].get<std::uint64_t>(), "sample", "samples"),
        countText(taken["scalars"].get<std::uint64_t>(), "scalar", "scalars"));
}

int runImport(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    const bool isFollowing = args.has("--follow");
    const auto idle = idleOf(args);
    if (!idle)
        return report.failUsage(idle.error());
    const auto wanted
        = isFollowing ? followedOf(args.positionals()) : wantedOf(args.positionals(), args.has("--merge"));
    if (!wanted)
        return report.failUsage(wanted.error());
    const Interruptible interruptible;
    auto importer = importerFor(args, *dataDir);
    if (!importer)
        return report.fail(importer.error());
    auto capsules = nlohmann::json::array();
    auto streams = nlohmann::json::array();
    auto errors = nlohmann::json::array();
    bool isWhole = true;
    const auto failed = [&](const Error& error) {
        report.say(error.sentence());
        errors.push_back(error.sentence());
    };
    for (const std::string& word : wanted->capsules) {
        const auto taken = (*importer)->takeRun(word);
        if (!taken) {
            failed(taken.error());
            continue;
        }
        capsules.push_back({ { "file", word }, { "capsule", taken->locator.text() }, { "run", taken->id },
            { "damage", taken->damage } });
        if (!args.has("--json"))
            out << fmt::format("{}: imported as run {}\n", terminalText(word), terminalText(taken->id));
        for (const std::string& sentence : taken->damage)
            report.say(word + ": " + sentence);
        isWhole = isWhole && taken->damage.empty();
    }
    for (const fs::path& folder : wanted->spools) {
        const auto taken = importOne(**importer, folder, args.has("--new-run"));
        if (!taken) {
            failed(taken.error());
            continue;
        }
        for (const std::string& damage : taken->damages)
            report.say(damage);
        streams.push_back(toJson(*taken));
        if (!args.has("--json"))
            writeText(out, *taken);
    }
    auto foreign = nlohmann::json::array();
    ProgressLine line(args.has("--json"));
    for (const std::vector<fs::path>& paths : wanted->foreign) {
        const auto taken
            = isFollowing ? follow(**importer, paths, *idle, line) : takeForeign(**importer, *dataDir, paths, line);
        line.clear();
        if (!taken) {
            failed(taken.error());
            continue;
        }
        for (const auto& damage : (*taken)["damages"])
            report.say(damage.get<std::string>());
        for (const auto& left : (*taken)["left_out"])
            report.say(fmt::format("left out: {} ({})", left["what"].get<std::string>(), left["count"].get<int>()));
        isWhole = isWhole && (*taken)["damages"].empty();
        if (!args.has("--json"))
            writeForeign(out, *taken);
        foreign.push_back(*taken);
    }
    importer->reset(); // what is said below is true once it has closed what it wrote
    if (args.has("--json"))
        writeJson(out, { { "streams", streams }, { "capsules", capsules }, { "runs", foreign }, { "errors", errors } });
    return errors.empty() && isWhole ? kExitDone : kExitFailed;
}

}

Verb importVerb()
{
    std::string about
        = "Brings into the archive what is elsewhere: what a training process left in its spool, runs of Telltale, and "
          "what\n"
          "other tools recorded. PATH is a file or a folder; what it is, is told by its content:\n"
          "  spool        what a training could not deliver, or the folder above several ($TELLTALE_DIR of it); a "
          "spool\n"
          "               goes when everything in it is safe, and what the run has already is not added again\n";
    for (const exchange::ForeignReader* format : exchange::foreignReaders())
        about += fmt::format("  {:<12} {}\n", format->id(), format->about());
    about
        += "Files stay as they are. What a run cannot hold is counted and said; of damaged files everything that can "
           "be "
           "read\n"
           "is taken. While a Telltale runs on the data directory, it is the one that takes them in; without "
           "--data-dir,\n"
           "$TELLTALE_CONTROL may name one elsewhere: it is a line of the file 'control' in that one's data directory.";
    return { "import", "what other tools recorded, other runs and left spools, into the archive", about,
        { "PATH...", 1, 1000 },
        { { "--data-dir", "DIR", "where the run is kept, instead of $TELLTALE_DATA_DIR" },
            { "--merge", "", "all PATHs are of one run: the ranks of a training that were recorded apart" },
            { "--follow", "",
                "goes on while another tool writes event files, until Ctrl+C or --idle; the PATHs are one run" },
            { "--idle", "SECONDS", "with --follow: the run is over when nothing has come for so long" },
            { "--new-run", "", "take a spool whose beginning neither it nor any run here has" },
            { "--json", "", "one JSON document on standard output" } },
        runImport };
}

}
