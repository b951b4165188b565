// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>
#include <variant>

#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>

#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>
#include <telltale/store/stepnote.h>
#include <telltale/store/storeservice.h>

#include "report.h"
#include "steeringserver.h"

namespace telltale::app {
namespace {

using store::StepNote;

constexpr std::chrono::seconds kWrittenWithin { 10 };

std::int64_t nowNs()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string writer()
{
    const passwd* user = ::getpwuid(::geteuid());
    return user != nullptr ? user->pw_name : "somebody";
}

std::string whereText(const StepNote& note)
{
    return note.steps.count() > 1 ? fmt::format("steps {} to {}", note.steps.first.value, note.steps.last.value)
                                  : fmt::format("step {}", note.steps.first.value);
}

Expected<StepNote> noteWithId(store::RunReader& reader, std::int64_t id)
{
    const auto records = store::readWholeLog(reader, { std::string(store::kNoteRecord), {}, {} });
    if (!records)
        return tl::unexpected(records.error());
    for (const store::LogRecord& record : *records) {
        if (const auto note = StepNote::of(record); note && note->id == id)
            return *note;
    }
    return failure(ErrorCode::NotFound, fmt::format("the run has no note {}", id),
        "'telltale log RUN --kind note --json' lists them with their ids");
}

/// What is to be written: a new note, or what becomes of one.
Expected<StepNote> noteOf(const Args& args, const OpenedCapsule& capsule)
{
    const auto id = args.value("--edit") ? args.value("--edit") : args.value("--remove");
    if (args.has("--step") == id.has_value() || (args.has("--edit") && args.has("--remove")))
        return failure(ErrorCode::BadInput, "say where the note stands, or which one changes",
            "one of --step A[:B], --edit ID or --remove ID");
    const bool wantsText = !args.has("--remove");
    if (wantsText != (args.positionals().size() == 2))
        return failure(ErrorCode::BadInput, wantsText ? "the note has no text" : "--remove takes no text",
            wantsText ? "write it behind the run, in quotes" : "leave it away");
    StepNote note;
    if (id) {
        const auto number = parseInteger(args.has("--edit") ? "--edit" : "--remove", *id);
        const auto known = number ? noteWithId(*capsule.reader, *number) : tl::unexpected(number.error());
        if (!known)
            return tl::unexpected(known.error());
        note = *known;
        note.isRemoved = !wantsText;
    } else {
        const auto steps = parseSteps(*args.value("--step"), capsule.catalog->steps);
        if (!steps)
            return tl::unexpected(steps.error());
        note.steps = *steps;
    }
    if (wantsText)
        note.text = args.positionals()[1];
    note.author = writer();
    note.wallNs = nowNs();
    const auto sound = note.check();
    return sound ? Expected<StepNote>(std::move(note)) : tl::unexpected(sound.error());
}

/// By the Telltale that has the data directory.
Expected<void> ask(const Args& args, const std::string& run, const StepNote& note)
{
    const auto server = steeringServer(args);
    if (!server)
        return tl::unexpected(server.error());
    return (*server)->writeNote({ run, note.steps, note.text, note.author, note.wallNs, note.id, note.isRemoved });
}

Expected<void> write(const Args& args, const std::string& dataDir, const store::RunHandle& run, const StepNote& note)
{
    store::StoreOptions options;
    options.dataDir = dataDir;
    auto service = store::StoreService::start(options);
    if (!service && service.error().code == ErrorCode::Busy)
        return ask(args, store::describeRun(run.locator).id, note);
    if (!service)
        return tl::unexpected(service.error());
    if (!(*service)->append({ 1, run.locator, Rank { -1 }, note.event() }))
        return failure(ErrorCode::Busy, "the store takes nothing more now", "try again");
    const auto until = std::chrono::steady_clock::now() + kWrittenWithin;
    for (; std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
        for (const store::StoreEvent& event : (*service)->takeEvents()) {
            const auto* written = std::get_if<store::RecordWritten>(&event);
            if (!written)
                continue;
            (*service)->stop(static_cast<std::int64_t>(kWrittenWithin.count()) * 1000);
            if (written->id == 0)
                return tl::unexpected(written->error);
            return {};
        }
    }
    return failure(ErrorCode::Io, "the run did not take the note in time", "try again");
}

int runNote(const Args& args, Report& report)
{
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return report.failUsage(dataDir.error());
    auto capsule = openRun(args);
    if (!capsule)
        return report.fail(capsule.error());
    const auto note = noteOf(args, *capsule);
    if (!note)
        return report.failUsage(note.error());
    const store::RunHandle run = capsule->handle;
    const std::string name = capsule->catalog->name;
    *capsule = {}; // nobody reads while it is written
    if (const auto written = write(args, *dataDir, run, *note); !written)
        return report.fail(written.error());
    report.out() << fmt::format("{}: {} at {}\n", terminalText(name),
        note->isRemoved     ? "note removed"
            : note->id != 0 ? "note changed"
                            : "noted",
        whereText(*note));
    return kExitDone;
}

}

Verb noteVerb()
{
    return { "note", "writes a note at a step of a run, or at a range of them",
        "Writes a note into the run's log: a mark on every axis of the window, a line of 'telltale log'.\n"
        "RUN is a path or an id from 'telltale runs'; the text is one word of the shell, so in quotes.",
        { "RUN [TEXT]", 1, 2 },
        { { "--step", "A[:B]", "where it stands; to B, both included" },
            { "--edit", "ID", "gives the note with this id another text" },
            { "--remove", "ID", "removes the note with this id" },
            { "--data-dir", "DIR",
                "whose runs these are, and where ids are looked up, instead of $TELLTALE_DATA_DIR" } },
        runNote };
}

}
