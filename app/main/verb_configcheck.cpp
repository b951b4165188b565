// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/analysis/runfacts.h>
#include <telltale/config/revision.h>
#include <telltale/config/textedit.h>
#include <telltale/core/plaintext.h>

#include "report.h"

namespace telltale::app {
namespace {

/// The line on which what the pointer names stands, from 1; of what is not there, its object's.
std::int64_t lineOf(std::string_view text, std::string_view pointer)
{
    const auto begin = static_cast<std::ptrdiff_t>(config::findPlace(text, pointer).begin);
    return 1 + std::count(text.begin(), text.begin() + begin, '\n');
}

int runConfigCheck(const Args& args, Report& report)
{
    std::ostream& out = report.out();
    const std::string& path = args.positionals().front();
    const auto text = readSmallFile(path, "config");
    if (!text)
        return report.failUsage(text.error());
    const auto parsed = config::parseMonitorConfig(*text);
    if (!parsed)
        return report.failUsage({ parsed.error().code, path + ": " + parsed.error().what, parsed.error().todo });
    std::vector<config::Problem> problems = parsed->problems;
    if (const auto run = args.value("--run")) {
        const auto locator = runNamed(args, *run);
        if (!locator)
            return report.fail(locator.error());
        const auto capsule = openCapsule(*locator);
        if (!capsule)
            return report.fail(capsule.error());
        const auto facts = analysis::configFactsOf(*capsule->reader);
        if (!facts)
            return report.fail(facts.error());
        for (config::Problem& problem : config::problemsInRun(parsed->config, facts->run))
            problems.push_back(std::move(problem));
    }
    const bool isGood = std::none_of(problems.begin(), problems.end(), [](const auto& one) { return one.isError; });
    if (args.has("--json")) {
        auto list = nlohmann::json::array();
        for (const config::Problem& problem : problems) {
            list.push_back({ { "pointer", problem.pointer }, { "line", lineOf(*text, problem.pointer) },
                { "sentence", problem.sentence }, { "is_error", problem.isError } });
        }
        writeJson(out,
            { { "file", path }, { "ok", isGood }, { "hash", config::configHash(parsed->config) },
                { "config", nlohmann::json::parse(config::canonicalConfigText(parsed->config)) },
                { "problems", std::move(list) } });
    } else {
        for (const config::Problem& problem : problems) {
            out << fmt::format("{}:{}: {}: {}\n", terminalText(path), lineOf(*text, problem.pointer),
                problem.isError ? "error" : "warning", terminalText(problem.sentence));
        }
        if (problems.empty())
            out << terminalText(path) << ": nothing is wrong\n";
    }
    return isGood ? kExitDone : kExitFailed;
}

}

Verb configCheckVerb()
{
    return { "config check", "what is wrong with a config.json, line by line",
        "Says all that is wrong with a monitor's config.json, with its line, and with --run what does not fit that "
        "run:\n"
        "targets that match nothing in its model, ranks that it does not have. Exits 1 where there is an error.",
        { "FILE", 1, 1 },
        { { "--run", "RUN", "a path, or an id from 'telltale runs'" },
            { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runConfigCheck };
}

}
