// SPDX-License-Identifier: GPL-3.0-or-later
#include "verbs.h"

#include <cstdlib>
#include <ostream>

#include <telltale/core/namepattern.h>
#include <telltale/judge/comparisonreport.h>
#include <telltale/judge/factsheet.h>
#include <telltale/judge/runcomparison.h>

#include "report.h"

namespace telltale::app {
namespace {

Expected<judge::ComparisonWish> wishOf(const Args& args, StepRange all)
{
    judge::ComparisonWish wish;
    const auto kind = kindOf(args);
    const auto stat = statOf(args);
    auto ranks = ranksOf(args, "--rank");
    const auto modules = modulesOf(args);
    if (!kind || !stat || !ranks || !modules)
        return tl::unexpected(!kind ? kind.error() : !stat ? stat.error() : !ranks ? ranks.error() : modules.error());
    wish.kind = *kind;
    wish.stat = *stat;
    wish.ranks = std::move(*ranks);
    wish.pattern = args.value("--modules").value_or("");
    if (const auto text = args.value("--steps")) {
        const auto steps = parseSteps(*text, all);
        if (!steps)
            return tl::unexpected(steps.error());
        wish.steps = *steps;
    }
    if (const auto text = args.value("--tolerance")) {
        char* end = nullptr;
        wish.tolerance = std::strtod(text->c_str(), &end);
        if (text->empty() || *end != '\0' || !(wish.tolerance >= 0) || wish.tolerance >= 1)
            return failure(ErrorCode::BadInput, "--tolerance '" + *text + "' is no number from 0 to 1",
                "1e-6 takes values that differ by a millionth as equal");
    }
    return wish;
}

int runCompare(const Args& args, Report& report)
{
    std::vector<OpenedCapsule> opened;
    for (const std::string& run : args.positionals()) {
        auto capsule
            = runNamed(args, run).and_then([](const store::RunLocator& locator) { return openCapsule(locator); });
        if (!capsule)
            return report.fail(capsule.error());
        opened.push_back(std::move(*capsule));
    }
    const auto wish = wishOf(args, opened[0].catalog->steps);
    if (!wish)
        return report.failUsage(wish.error());
    const auto found = judge::compareRuns(
        { *opened[0].reader, *opened[0].catalog }, { *opened[1].reader, *opened[1].catalog }, *wish);
    if (!found)
        return report.fail(found.error());
    std::vector<judge::FactSheet> sheets;
    for (const OpenedCapsule& one : opened) {
        auto sheet = judge::factSheetOf(*one.reader);
        if (!sheet)
            return report.fail(sheet.error());
        sheets.push_back(std::move(*sheet));
        for (const std::string& sentence : one.catalog->damage)
            report.say(sentence);
    }
    const auto facts = judge::differingFacts(sheets);
    if (args.has("--json"))
        report.out() << judge::reportJson(*found, facts) << '\n';
    else
        report.out() << judge::reportText(*found, facts);
    return args.has("--fail") && !found->isEqual() ? kExitFailed : kExitDone;
}

}

Verb compareVerb()
{
    return { "compare", "where two runs begin to differ",
        "Compares two runs value by value: the same tensor or metric, rank and step. Says until which step they are\n"
        "equal, what differs first, in the order in which a step comes to it, how far each kind and rank is apart, "
        "and\n"
        "what differs in their configs, hyperparameters and environments.\n"
        "Signs of gradients that both have are judged by msprobe's rule: from which step on which are suspicious.\n"
        "Scalars that tell times are left out, and histograms. A and B are paths or ids from 'telltale runs'.",
        { "A B", 2, 2 },
        { { "--kind", "KIND", "this kind alone: grad_reduced, actv, exp_avg, ..." },
            { "--stat", "STAT", "this statistic alone: norm, mean, max, checksum, ..." },
            { "--modules", "PATTERN", "names that match: text, glob* or /regex/" },
            { "--rank", "R,R", "these ranks alone" }, { "--steps", "A:B", "these steps alone" },
            { "--tolerance", "T",
                "values are equal that differ by this share of the larger one (0, and with it checksums: the same "
                "number)" },
            { "--fail", "", "exit 1 where they differ" }, { "--json", "", "one JSON document on standard output" },
            { "--data-dir", "DIR", "where ids are looked up instead of $TELLTALE_DATA_DIR" } },
        runCompare };
}

}
