// SPDX-License-Identifier: GPL-3.0-or-later
#include "verb.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "log.h"
#include "report.h"

namespace telltale::app {
namespace {

std::vector<Flag> withEverybodys(std::vector<Flag> flags)
{
    for (Flag& flag : Log::flags())
        flags.push_back(std::move(flag));
    return flags;
}

}

std::string Verb::synopsis() const
{
    std::string line = name.empty() ? "telltale" : "telltale " + name;
    if (words.least > 0)
        line += ' ' + words.name;
    for (const Flag& flag : flags) {
        const std::string text = flag.valueName.empty() ? flag.name : flag.name + ' ' + flag.valueName;
        line += flag.isRequired ? ' ' + text : " [" + text + ']';
    }
    if (words.least == 0 && words.most > 0)
        line += " [" + words.name + ']';
    return line;
}

std::string Verb::help() const
{
    std::string text = "usage: " + synopsis() + "\n\n" + about + "\n\n";
    std::vector<Flag> all = withEverybodys(flags);
    all.push_back({ "--help", "", "show this text" });
    for (const Flag& flag : all)
        text += fmt::format(
            "  {:<21} {}\n", flag.name + (flag.valueName.empty() ? "" : " " + flag.valueName), flag.help);
    return text;
}

int runVerb(
    const Verb& verb, std::span<const std::string> words, std::ostream& out, std::ostream& err, int argc, char** argv)
{
    const auto isJson = [](const auto& name) { return name == "--json"; };
    const bool withJson = std::any_of(words.begin(), words.end(), isJson)
        && std::any_of(verb.flags.begin(), verb.flags.end(), [&](const Flag& flag) { return isJson(flag.name); });
    Report report(out, err, withJson, argc, argv);
    auto args = Args::parse(withEverybodys(verb.flags), verb.words, words);
    if (!args) {
        args.error().todo = "see 'telltale " + verb.name + (verb.name.empty() ? "--help'" : " --help'");
        return report.failUsage(args.error());
    }
    int code = kExitDone;
    if (args->wantsHelp()) {
        out << verb.help();
    } else {
        const auto log = Log::open(*args);
        if (!log)
            return report.failUsage(log.error());
        code = verb.run(*args, report);
    }
    if (out.flush())
        return code;
    report.say("the output could not be written (is the disk full?)");
    return kExitFailed;
}

}
