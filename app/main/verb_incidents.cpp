// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>
#include <telltale/judge/rulesinforce.h>
#include <telltale/judge/runjudge.h>

#include "report.h"

namespace telltale::app {
namespace {

using judge::Incident;
using store::Severity;

const char* wordOf(Severity severity)
{
    return severity == Severity::Critical ? "critical" : severity == Severity::Warning ? "warning" : "notice";
}

/// The exit code that --fail-on asks for; nothing where it is no severity.
std::optional<int> exitFor(const Args& args, const std::vector<Incident>& incidents)
{
    const auto wanted = args.value("--fail-on");
    if (!wanted)
        return kExitDone;
    if (*wanted != "warning" && *wanted != "critical")
        return {};
    const Severity least = *wanted == "critical" ? Severity::Critical : Severity::Warning;
    return std::any_of(incidents.begin(), incidents.end(),
               [least](const Incident& incident) { return incident.first.severity >= least; })
        ? kExitFailed
        : kExitDone;
}

int tell(const Args& args, Report& report, const std::vector<Incident>& incidents, const std::string& name)
{
    std::ostream& out = report.out();
    const auto code = exitFor(args, incidents);
    if (!code)
        return report.failUsage(Error { ErrorCode::BadInput,
            "--fail-on '" + *args.value("--fail-on") + "' is no severity", "say warning or critical" });
    if (args.has("--json")) {
        auto document = nlohmann::json::array();
        for (const Incident& incident : incidents)
            document.push_back(nlohmann::json::parse(judge::toJson(incident)));
        writeJson(out, document);
        return *code;
    }
    if (incidents.empty())
        out << terminalText(name) << ": nothing abnormal\n";
    for (const Incident& incident : incidents) {
        out << fmt::format("{:<8}  {}\n", wordOf(incident.first.severity), terminalText(incident.sentence));
        for (const judge::Finding& finding : incident.evidence) {
            out << fmt::format("{:<10}{}: {}\n", "",
                finding.rule == "ranks"
                    ? "ranks"
                    : fmt::format("step {}, {}", finding.step.value, terminalText(judge::placeOf(finding))),
                terminalText(finding.sentence));
        }
        for (const std::string& tie : incident.ties)
            out << fmt::format("{:<10}at the same moment: {}\n", "", terminalText(tie));
        if (incident.folded > 0)
            out << fmt::format(
                "{:<10}{} later findings folded, until step {}\n", "", incident.folded, incident.lastStep.value);
        if (incident.isAcknowledged || !incident.notes.empty()) {
            out << fmt::format("{:<10}{}", "", incident.isAcknowledged ? "acknowledged" : "noted");
            for (const std::string& note : incident.notes)
                out << "; " << terminalText(note);
            out << '\n';
        }
    }
    return *code;
}

int runIncidents(const Args& args, Report& report)
{
    const auto capsule = openRun(args);
    if (!capsule)
        return report.fail(capsule.error());
    judge::IncidentBook book;
    if (const auto read = book.update(*capsule->reader); !read)
        return report.fail(read.error());
    std::vector<Incident> incidents;
    for (const Incident* incident : book.inOrder())
        incidents.push_back(*incident);
    return tell(args, report, incidents, capsule->catalog->name);
}

Expected<judge::RulesInForce> rulesOf(const Args& args, Report& report, store::RunReader* run)
{
    const auto dataDir = dataDirOf(args);
    if (!dataDir)
        return tl::unexpected(dataDir.error());
    auto found = judge::rulesInForce(*dataDir, run);
    if (found && !found->problem.empty())
        report.say(found->problem);
    return found;
}

int runJudge(const Args& args, Report& report)
{
    std::optional<judge::Rules> rules;
    if (const auto path = args.value("--rules")) {
        const auto text = readSmallFile(*path, "rules");
        if (!text)
            return report.failUsage(text.error());
        const auto read = judge::Rules::fromJson(*text);
        if (!read)
            return report.failUsage({ read.error().code, *path + ": " + read.error().what, read.error().todo });
        rules = *read;
    }
    const auto capsule = openRun(args);
    if (!capsule)
        return report.fail(capsule.error());
    if (!rules) {
        const auto inForce = rulesOf(args, report, capsule->reader.get());
        if (!inForce)
            return report.fail(inForce.error());
        rules = inForce->rules;
    }
    judge::RunJudge judge(*rules);
    if (const auto ok = judge.judgeAll(*capsule->reader); !ok)
        return report.fail(ok.error());
    return tell(args, report, judge.incidents(), capsule->catalog->name);
}

int runRules(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    if (args.has("--schema")) {
        out << judge::Rules::schema() << '\n';
        return kExitDone;
    }
    std::optional<OpenedCapsule> capsule;
    if (!args.positionals().empty()) {
        auto opened = openRun(args);
        if (!opened)
            return report.fail(opened.error());
        capsule = std::move(*opened);
    }
    const auto inForce = rulesOf(args, report, capsule ? capsule->reader.get() : nullptr);
    if (!inForce)
        return report.fail(inForce.error());
    const judge::Rules& rules = inForce->rules;
    if (args.has("--json")) {
        out << rules.toJson() << '\n';
        return kExitDone;
    }
    using From = judge::RulesInForce::From;
    out << (inForce->from == From::Run       ? "of the run's own log"
            : inForce->from == From::Default ? "of the data directory's rules.json"
                                             : "the standard rules")
        << "\n\n";
    const judge::Rules standard;
    for (const judge::RuleInfo& info : judge::ruleTable()) {
        out << fmt::format("{:<18}{}{}\n", info.id, rules.isOn(info.rule) ? "" : "OFF. ", info.description);
        for (std::size_t i = 0; i < info.parameters.size(); ++i) {
            const judge::Parameter& parameter = info.parameters[i];
            const double value = rules.value(info.rule, i);
            if (!parameter.name.empty())
                out << fmt::format("{:<18}  {} = {}{}: {}\n", "", parameter.name, value,
                    value == parameter.standard ? "" : fmt::format(" (standard {})", parameter.standard),
                    parameter.description);
        }
    }
    return kExitDone;
}

}

Verb incidentsVerb()
{
    return { "incidents", "what went wrong in a run: where it began, first cause first",
        "Lists what was found wrong with a run while it was recorded: where it began, and what speaks for it.\n"
        "RUN is a path or an id from 'telltale runs'. Exits 0 also where there is something.",
        { "RUN", 1, 1 },
        { { "--fail-on", "SEVERITY", "exit 1 where there is one of at least this: warning or critical" },
            { "--json", "", "one JSON array on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runIncidents };
}

Verb judgeVerb()
{
    return { "judge", "applies the rules to a run again",
        "Applies the rules to everything that a run has recorded, and lists what they find. Nothing is written.\n"
        "They are those of the run's log, else those of rules.json in the data directory, else the standard ones.\n"
        "RUN is a path or an id from 'telltale runs'. Exits 0 also where there is something.",
        { "RUN", 1, 1 },
        { { "--rules", "FILE", "a rules document instead of the rules in force; 'telltale rules --json' prints one" },
            { "--fail-on", "SEVERITY", "exit 1 where there is one of at least this: warning or critical" },
            { "--json", "", "one JSON array on standard output, as of 'telltale incidents'" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runJudge };
}

Verb rulesVerb()
{
    return { "rules", "the rules that runs are judged by, and what they are tuned by",
        "Lists the rules in force and the numbers that they are tuned by: of a run, or without one those of every run\n"
        "that has none of its own, which rules.json in the data directory may say.",
        { "RUN", 0, 1 },
        { { "--json", "", "as a rules document" }, { "--schema", "", "the JSON Schema of such a document" },
            { "--data-dir", "DIR",
                "whose rules.json counts, and where ids are looked up, instead of "
                "$TELLTALE_DATA_DIR" } },
        runRules };
}

}
