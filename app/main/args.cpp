// SPDX-License-Identifier: GPL-3.0-or-later
#include "args.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace telltale::app {

namespace {

/// CLI11 takes "--flag=" for a flag whose value is the next word; this one has an empty value. Backwards, as CLI11
/// wants its words.
std::vector<std::string> reversedWords(std::span<const std::string> given)
{
    std::vector<std::string> words;
    bool flagsEnded = false;
    for (const std::string& word : given) {
        flagsEnded = flagsEnded || word == "--";
        if (!flagsEnded && word.starts_with("--") && word.find('=') == word.size() - 1) {
            words.push_back(word.substr(0, word.size() - 1));
            words.emplace_back();
        } else {
            words.push_back(word);
        }
    }
    std::reverse(words.begin(), words.end());
    return words;
}

std::string takesWhat(const Flag& flag)
{
    return "option '" + flag.name + (flag.valueName.empty() ? "' takes no value" : "' needs " + flag.valueName);
}

}

Expected<Args> Args::parse(const std::vector<Flag>& flags, const Words& words, std::span<const std::string> given)
{
    Args args;
    CLI::App app;
    app.set_help_flag("-h,--help");
    app.allow_extras(); // said below in our words
    for (const Flag& flag : flags) {
        const auto take = [&args, name = flag.name](const std::string& value) { args.m_values[name].push_back(value); };
        if (flag.valueName.empty())
            app.add_flag_function(flag.name, [take](std::int64_t) { take({}); })->disable_flag_override();
        else
            app.add_option_function<std::string>(flag.name, take)
                ->take_last()
                ->trigger_on_parse()
                ->expected(flag.valueName.starts_with('[') ? 0 : 1, 1);
    }
    if (words.most > 0)
        app.add_option("words", args.m_positionals)->expected(0, -1); // too many of them are said below
    try {
        app.parse(reversedWords(given));
    } catch (const CLI::CallForHelp&) {
        args.m_wantsHelp = true;
        return args;
    } catch (const CLI::ParseError& error) {
        // Begins with the option's name, with its dashes or without.
        const std::string_view sentence = error.what();
        const std::string_view name = sentence.substr(0, sentence.find_first_of(": "));
        for (const Flag& flag : flags) {
            if (name == flag.name || name == flag.name.substr(flag.name.find_first_not_of('-')))
                return failure(ErrorCode::BadInput, takesWhat(flag));
        }
        return failure(ErrorCode::BadInput, std::string(sentence));
    }
    auto extras = app.remaining();
    std::erase(extras, "--");
    if (!extras.empty()) {
        const std::string& word = extras.front();
        const bool isOption = word.size() > 1 && word.front() == '-';
        return failure(ErrorCode::BadInput,
            isOption ? "unknown option '" + word.substr(0, word.find('=')) + "'"
                     : "unexpected argument '" + word + "'");
    }
    if (args.m_positionals.size() > words.most)
        return failure(ErrorCode::BadInput, "unexpected argument '" + args.m_positionals[words.most] + "'");
    if (args.m_positionals.size() < words.least)
        return failure(ErrorCode::BadInput, words.name + " is missing");
    for (const Flag& flag : flags) {
        if (flag.isRequired && !args.has(flag.name))
            return failure(ErrorCode::BadInput, flag.name + " " + flag.valueName + " is missing");
    }
    return args;
}

std::optional<std::string> Args::value(std::string_view flag) const
{
    const auto it = m_values.find(flag);
    return it == m_values.end() ? std::nullopt : std::optional<std::string>(it->second.back());
}

std::vector<std::string> Args::values(std::string_view flag) const
{
    const auto it = m_values.find(flag);
    return it == m_values.end() ? std::vector<std::string>() : it->second;
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

Expected<std::optional<Rank>> rankOf(const Args& args)
{
    const auto text = args.value("--rank");
    return text ? parseRank("--rank", *text).map([](Rank rank) { return std::optional(rank); }) : std::optional<Rank>();
}

Expected<std::vector<Rank>> ranksOf(const Args& args, std::string_view flag)
{
    std::vector<Rank> ranks;
    const auto given = args.value(flag);
    if (!given)
        return ranks;
    std::string_view left = *given;
    for (;;) {
        const std::size_t comma = left.find(',');
        const auto rank = parseRank(flag, left.substr(0, comma));
        if (!rank)
            return tl::unexpected(rank.error());
        ranks.push_back(*rank);
        if (comma == std::string_view::npos)
            return ranks;
        left.remove_prefix(comma + 1);
    }
}

Expected<std::optional<Kind>> kindOf(const Args& args)
{
    const auto word = args.value("--kind");
    if (!word)
        return std::nullopt;
    const auto kind = kindFromName(*word);
    if (!kind)
        return failure(ErrorCode::BadInput, "there is no kind '" + *word + "'",
            "for example grad_reduced, actv, exp_avg; 'telltale inspect RUN' names those of a run");
    return kind;
}

Expected<std::optional<Stat>> statOf(const Args& args)
{
    const auto word = args.value("--stat");
    if (!word)
        return std::nullopt;
    const auto stat = statFromName(*word);
    if (!stat)
        return failure(ErrorCode::BadInput, "there is no statistic '" + *word + "'",
            "for example norm, mean, max, nans; 'telltale inspect RUN' names those of a run");
    return stat;
}

Expected<NamePattern> modulesOf(const Args& args)
{
    NamePattern pattern(args.value("--modules").value_or(""));
    if (!pattern.isValid())
        return failure(ErrorCode::BadInput, "--modules " + *args.value("--modules") + " is not a regular expression",
            pattern.error());
    return pattern;
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
