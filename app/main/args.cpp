// SPDX-License-Identifier: GPL-3.0-or-later
#include "args.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace telltale::app {

namespace {

/// "telltale show" of "telltale show CAPSULE [...]"; "telltale" of "telltale [CAPSULE...]".
std::string programAndVerb(const std::string& line)
{
    const std::size_t program = line.find(' ');
    if (program == std::string::npos || program + 1 >= line.size() || line[program + 1] < 'a'
        || line[program + 1] > 'z')
        return line.substr(0, program);
    return line.substr(0, line.find(' ', program + 1));
}

}

std::string Usage::help() const
{
    std::string text = "usage: " + line + "\n\n" + summary + "\n";
    std::vector<Flag> all = flags;
    all.push_back({ "--help", "", "show this text" });
    text += '\n';
    for (const Flag& flag : all) {
        const std::string left = flag.valueName.empty() ? flag.name : flag.name + " " + flag.valueName;
        text += fmt::format("  {:<22}{}\n", left, flag.help);
    }
    return text;
}

Expected<Args> Args::parse(const Usage& usage, std::span<const std::string> words)
{
    const std::string todo = "see '" + programAndVerb(usage.line) + " --help'";
    Args args;
    bool flagsEnded = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!flagsEnded && word == "--") {
            flagsEnded = true;
            continue;
        }
        if (flagsEnded || word.size() < 2 || word[0] != '-') {
            args.m_positionals.push_back(word);
            continue;
        }
        const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
        const std::string name = word.substr(0, equals);
        if (name == "--help" || name == "-h") {
            args.m_values["--help"] = "";
            continue;
        }
        const auto flag = std::find_if(
            usage.flags.begin(), usage.flags.end(), [&name](const Flag& candidate) { return candidate.name == name; });
        if (flag == usage.flags.end())
            return failure(ErrorCode::BadInput, "unknown option '" + name + "'", todo);
        if (flag->valueName.empty()) {
            if (equals != std::string::npos)
                return failure(ErrorCode::BadInput, "option '" + name + "' takes no value", todo);
            args.m_values[name] = "";
        } else if (equals != std::string::npos) {
            args.m_values[name] = word.substr(equals + 1);
        } else if (i + 1 < words.size()) {
            args.m_values[name] = words[++i];
        } else {
            return failure(ErrorCode::BadInput, "option '" + name + "' needs " + flag->valueName, todo);
        }
    }
    if (args.wantsHelp())
        return args;
    if (args.m_positionals.size() < usage.minPositionals)
        return failure(ErrorCode::BadInput, "an argument is missing: " + usage.line, todo);
    if (args.m_positionals.size() > usage.maxPositionals) {
        return failure(
            ErrorCode::BadInput, "unexpected argument '" + args.m_positionals[usage.maxPositionals] + "'", todo);
    }
    return args;
}

std::optional<std::string> Args::value(std::string_view flag) const
{
    const auto it = m_values.find(flag);
    return it == m_values.end() ? std::nullopt : std::optional<std::string>(it->second);
}

Expected<std::int64_t> parseInteger(std::string_view flag, std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return failure(ErrorCode::BadInput, fmt::format("{} wants a whole number, not '{}'", flag, text));
    return number;
}

Expected<Rank> parseRank(std::string_view flag, std::string_view text)
{
    const auto number = parseInteger(flag, text);
    if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max())
        return failure(ErrorCode::BadInput, fmt::format("{} wants a rank, 0 or more, not '{}'", flag, text));
    return Rank { static_cast<std::int32_t>(*number) };
}

Expected<StepRange> parseSteps(std::string_view text, StepRange all)
{
    const std::size_t colon = text.find(':');
    const std::string_view left = text.substr(0, colon);
    const std::string_view right = colon == std::string_view::npos ? left : text.substr(colon + 1);
    StepRange range = all;
    if (!left.empty()) {
        const auto first = parseInteger("--steps", left);
        if (!first)
            return tl::unexpected<Error>(first.error());
        range.first = Step { *first };
    }
    if (!right.empty()) {
        const auto last = parseInteger("--steps", right);
        if (!last)
            return tl::unexpected<Error>(last.error());
        range.last = Step { *last };
    }
    if (text.empty() || (!left.empty() && !right.empty() && range.isEmpty())) {
        return failure(ErrorCode::BadInput, fmt::format("--steps wants first:last, not '{}'", text));
    }
    return range;
}

}
