// SPDX-License-Identifier: GPL-3.0-or-later
#include "helpdocs.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "log.h"

namespace telltale::app {
namespace {

constexpr std::string_view kRuns = "telltale runs 2>/dev/null | sed -n '2,$s/ .*//p'";

std::vector<Flag> flagsOf(const Verb& verb)
{
    std::vector<Flag> flags = verb.flags;
    for (Flag& flag : Log::flags())
        flags.push_back(std::move(flag));
    flags.push_back({ "--help", "", "show this text" });
    return flags;
}

bool takesRun(const Verb& verb)
{
    return verb.words.name.starts_with("RUN") || verb.words.name.starts_with("CAPSULE");
}

/// "check", "show", ... behind "config"; verbs without a second word have none.
std::map<std::string, std::vector<const Verb*>> groupsOf(const std::vector<Verb>& verbs)
{
    std::map<std::string, std::vector<const Verb*>> groups;
    for (const Verb& verb : verbs) {
        if (const std::size_t space = verb.name.find(' '); space != std::string::npos)
            groups[verb.name.substr(0, space)].push_back(&verb);
    }
    return groups;
}

std::vector<std::string> firstWords(const std::vector<Verb>& verbs)
{
    std::vector<std::string> words;
    for (const Verb& verb : verbs) {
        std::string word = verb.name.substr(0, verb.name.find(' '));
        if (std::find(words.begin(), words.end(), word) == words.end())
            words.push_back(std::move(word));
    }
    return words;
}

/// The options of a verb in one line.
std::string flagNames(const Verb& verb)
{
    std::vector<std::string> names;
    for (const Flag& flag : flagsOf(verb))
        names.push_back(flag.name);
    return fmt::format("{}", fmt::join(names, " "));
}

/// Text inside single quotes.
std::string quoted(std::string_view text)
{
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string bash(const std::vector<Verb>& verbs)
{
    std::string out = "# Completion of telltale for bash.\n_telltale()\n{\n"
                      "    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]:-} words= runs=\n"
                      "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        + fmt::format(
            "        COMPREPLY=($(compgen -W '{}' -- \"$word\") $(compgen -f -X '!*.telltale' -- \"$word\"))\n",
            fmt::join(firstWords(verbs), " "))
        + "        return\n    fi\n";
    out += "    case \"$verb\" in\n";
    for (const auto& [group, members] : groupsOf(verbs)) {
        std::vector<std::string> seconds;
        for (const Verb* verb : members)
            seconds.push_back(verb->name.substr(group.size() + 1));
        out += fmt::format(
            "    {}) if [ \"$COMP_CWORD\" -eq 2 ]; then words='{}'; else verb=\"{} ${{COMP_WORDS[2]}}\"; fi ;;\n",
            group, fmt::join(seconds, " "), group);
    }
    out += "    esac\n    case \"$verb\" in\n";
    for (const Verb& verb : verbs)
        out += fmt::format(
            "    '{}') words=\"$words {}\"{} ;;\n", verb.name, flagNames(verb), takesRun(verb) ? " runs=1" : "");
    out += "    esac\n    case \"$word\" in\n    -*) runs= ;;\n    esac\n"
        + fmt::format("    [ -z \"$runs\" ] || words=\"$words $({})\"\n", kRuns)
        + "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "    [ \"${word:0:1}\" = - ] || COMPREPLY+=($(compgen -f -- \"$word\"))\n}\n"
          "complete -o filenames -F _telltale telltale\n";
    return out;
}

std::string zsh(const std::vector<Verb>& verbs)
{
    std::string out = "#compdef telltale\n# Completion of telltale for zsh.\nlocal verb=$words[2]\nlocal -a flags\n"
                      "if (( CURRENT == 2 )); then\n    local -a verbs\n    verbs=(\n";
    const auto groups = groupsOf(verbs);
    for (const std::string& word : firstWords(verbs)) {
        const auto found
            = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.name == word; });
        const std::string about = found == verbs.end() ? "its own verbs" : found->summary;
        out += fmt::format("        {}\n", quoted(word + ":" + about));
    }
    out += "    )\n    _describe verb verbs\n    _files -g '*.telltale'\n    return\nfi\ncase $verb in\n";
    for (const auto& [group, members] : groups) {
        std::vector<std::string> seconds;
        for (const Verb* verb : members)
            seconds.push_back(quoted(verb->name.substr(group.size() + 1) + ":" + verb->summary));
        out += fmt::format("{})\n    if (( CURRENT == 3 )); then\n        local -a verbs\n        verbs=({})\n        "
                           "_describe verb verbs\n"
                           "    fi\n    verb=\"{} $words[3]\" ;;\n",
            group, fmt::join(seconds, " "), group);
    }
    out += "esac\ncase $verb in\n";
    for (const Verb& verb : verbs) {
        std::vector<std::string> options;
        for (const Flag& flag : flagsOf(verb))
            options.push_back(quoted(flag.name + ":" + flag.help));
        out += fmt::format("'{}') flags=({}){} ;;\n", verb.name, fmt::join(options, " "),
            takesRun(verb) ? fmt::format("; compadd -- ${{(f)\"$({})\"}}", kRuns) : "");
    }
    return out + "esac\n[[ $words[CURRENT] == -* ]] && _describe option flags\n_files\n";
}

std::string fish(const std::vector<Verb>& verbs)
{
    std::string out = "# Completion of telltale for fish.\n";
    const auto groups = groupsOf(verbs);
    for (const std::string& word : firstWords(verbs)) {
        const auto found
            = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.name == word; });
        out += fmt::format("complete -c telltale -n __fish_use_subcommand -a {} -d {}\n", word,
            quoted(found == verbs.end() ? "its own verbs" : found->summary));
    }
    for (const Verb& verb : verbs) {
        const std::size_t space = verb.name.find(' ');
        const std::string group = verb.name.substr(0, space);
        const std::string second = space == std::string::npos ? "" : verb.name.substr(space + 1);
        std::string when = "__fish_seen_subcommand_from " + group;
        if (!second.empty()) {
            out += fmt::format("complete -c telltale -n {} -a {} -d {}\n", quoted(when), second, quoted(verb.summary));
            when += "; and __fish_seen_subcommand_from " + second;
        }
        if (takesRun(verb))
            out += fmt::format(
                "complete -c telltale -n {} -a {}\n", quoted(when), quoted("(" + std::string(kRuns) + ")"));
        for (const Flag& flag : flagsOf(verb)) {
            const bool isLong = flag.name.starts_with("--");
            out += fmt::format("complete -c telltale -n {} -{} {}{} -d {}\n", quoted(when), isLong ? 'l' : 's',
                flag.name.substr(isLong ? 2 : 1), flag.valueName.empty() ? "" : " -r", quoted(flag.help));
        }
    }
    return out;
}

/// Text that troff sets as it is.
std::string troff(std::string_view text)
{
    std::string out;
    bool isAtStart = true;
    for (const char c : text) {
        if (isAtStart && (c == '.' || c == '\''))
            out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
        isAtStart = c == '\n';
    }
    return out;
}

std::string sectionOf(const Verb& verb)
{
    std::string out = fmt::format(".B {}\n.PP\n.nf\n{}\n.fi\n", troff(verb.synopsis()), troff(verb.about));
    for (const Flag& flag : flagsOf(verb))
        out += fmt::format(".TP\n.B {}{}\n{}\n", troff(flag.name),
            flag.valueName.empty() ? "" : " \\fI" + troff(flag.valueName) + "\\fR", troff(flag.help));
    return out;
}

}

std::string completionsFor(std::string_view shell, const std::vector<Verb>& verbs)
{
    return shell == "bash" ? bash(verbs) : shell == "zsh" ? zsh(verbs) : shell == "fish" ? fish(verbs) : std::string();
}

std::string manualPage(const Verb& desktop, const std::vector<Verb>& verbs)
{
    std::string out
        = ".TH TELLTALE 1 \"\" \"Telltale " TELLTALE_VERSION "\" \"User Commands\"\n"
          ".SH NAME\ntelltale \\- shows what happens inside a neural network while it trains\n.SH SYNOPSIS\n";
    out += fmt::format(".B {}\n.br\n.B telltale\n.I VERB\n\\&...\n.SH DESCRIPTION\n", troff(desktop.synopsis()));
    out += sectionOf(desktop);
    for (const Verb& verb : verbs)
        out += fmt::format(".SH {}\n{}", troff(verb.name), sectionOf(verb));
    out += ".SH EXIT STATUS\n0: done. 1: the work failed. 2: wrong usage or bad input.\n"
           ".SH FILES\nRuns are single files under $TELLTALE_DATA_DIR/runs, else $XDG_DATA_HOME/telltale/runs, else\n"
           "~/.local/share/telltale/runs.\n";
    return out;
}

}
