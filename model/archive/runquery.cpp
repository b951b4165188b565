// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/archive/runquery.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include <telltale/archive/moment.h>
#include <telltale/core/namepattern.h>

namespace telltale::archive {
namespace {

Expected<NamePattern> patternOf(std::string_view field, std::string_view value)
{
    NamePattern pattern(value);
    if (!pattern.isValid())
        return failure(ErrorCode::BadInput,
            std::string(field) + " " + std::string(value) + " is not a regular expression", pattern.error());
    return pattern;
}

std::optional<double> numberIn(std::string_view text)
{
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// "optimizer.lr" is meant by "lr", too, whatever the case.
bool isNamed(std::string_view name, std::string_view wanted)
{
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    if (name.size() < wanted.size() || (name.size() > wanted.size() && name[name.size() - wanted.size() - 1] != '.'))
        return false;
    return std::equal(wanted.begin(), wanted.end(), name.end() - static_cast<std::ptrdiff_t>(wanted.size()), same);
}

struct SettingTest {
    std::string field;
    std::string sign; ///< empty: it is there
    std::string value;
    NamePattern pattern; ///< of the value, where it is a glob or an expression

    bool holdsFor(const std::string& found) const
    {
        const auto a = numberIn(found);
        const auto b = numberIn(value);
        if (sign == "=" || sign == "!=") {
            const bool isEqual = a && b ? *a == *b : pattern.isPlainText() ? found == value : pattern.matches(found);
            return isEqual == (sign == "=");
        }
        return a && b && (sign == "<" ? *a < *b : sign == "<=" ? *a <= *b : sign == ">" ? *a > *b : *a >= *b);
    }
    bool operator()(const RunProfile& profile) const
    {
        bool isThere = false;
        bool holds = false;
        for (const auto& [name, found] : profile.settings) {
            if (!isNamed(name, field))
                continue;
            isThere = true;
            holds |= sign.empty() || holdsFor(found);
        }
        return isThere && holds;
    }
};

Expected<SettingTest> settingOf(std::string_view text)
{
    SettingTest test;
    const std::size_t sign = text.find_first_of("=!<>");
    test.field = text.substr(0, sign);
    if (sign != std::string_view::npos) {
        const bool isDouble = text[sign] != '=' && text.substr(sign + 1, 1) == "=";
        test.sign = text.substr(sign, isDouble ? 2 : 1);
        test.value = text.substr(sign + test.sign.size());
    }
    if (test.field.empty() || test.sign == "!")
        return failure(ErrorCode::BadInput, "'" + std::string(text) + "' names no field of a config",
            "write FIELD=VALUE, for example lr=0.001, lr<=1e-4 or optimizer.name=adam*");
    if (test.sign.starts_with('<') || test.sign.starts_with('>')) {
        if (!numberIn(test.value))
            return failure(ErrorCode::BadInput,
                "'" + test.value + "' is no number that " + test.field + " could be compared with");
        return test;
    }
    auto pattern = patternOf("config", test.value);
    if (!pattern)
        return tl::unexpected(pattern.error());
    test.pattern = std::move(*pattern);
    return test;
}

Expected<store::Severity> severityOf(std::string_view word)
{
    if (word == "critical")
        return store::Severity::Critical;
    if (word == "warning")
        return store::Severity::Warning;
    if (word.empty() || word == "any" || word == "notice")
        return store::Severity::Notice;
    return failure(
        ErrorCode::BadInput, "'" + std::string(word) + "' is no severity", "say notice, warning or critical");
}

Expected<std::set<store::RunState>> statesOf(std::string_view words)
{
    std::set<store::RunState> states;
    for (std::string_view left = words;;) {
        const std::size_t comma = left.find(',');
        const std::string_view word = left.substr(0, comma);
        auto state = store::RunState::Live;
        while (state < store::RunState::Lost && store::runStateName(state) != word)
            state = static_cast<store::RunState>(static_cast<int>(state) + 1);
        if (store::runStateName(state) != word)
            return failure(ErrorCode::BadInput, "'" + std::string(word) + "' is no state of a run",
                "say live, finished, failed, interrupted, lost, damaged or newer; several with commas");
        states.insert(state);
        if (comma == std::string_view::npos)
            return states;
        left.remove_prefix(comma + 1);
    }
}

/// The words of a line; quotes keep spaces and are gone.
std::vector<std::string> wordsOf(std::string_view line)
{
    std::vector<std::string> words;
    bool isQuoted = false;
    bool isWord = false;
    for (const char c : line) {
        const bool isSpace = !isQuoted && (c == ' ' || c == '\t');
        if (!isSpace && !isWord)
            words.emplace_back();
        isWord = !isSpace;
        if (c == '"')
            isQuoted = !isQuoted;
        else if (isWord)
            words.back() += c;
    }
    return words;
}

}

Expected<void> RunQuery::add(std::string_view field, std::string_view value, std::int64_t nowNs)
{
    if (field == "incident") {
        return severityOf(value).map([this](store::Severity least) {
            m_ofProfile.emplace_back([least](const RunProfile& profile) { return profile.incidentsFrom(least) > 0; });
        });
    }
    if (value.empty())
        return failure(ErrorCode::BadInput, std::string(field) + " says nothing to look for");
    if (field == "config") {
        return settingOf(value).map([this](SettingTest test) { m_ofProfile.emplace_back(std::move(test)); });
    }
    if (field == "state") {
        return statesOf(value).map([this](const std::set<store::RunState>& states) {
            m_ofSummary.emplace_back([states](const store::RunSummary& run) { return states.contains(run.state); });
        });
    }
    if (field == "since" || field == "until") {
        const bool isSince = field == "since";
        return parseMoment(value, isSince ? Edge::First : Edge::Last, nowNs).map([this, isSince](std::int64_t ns) {
            m_ofSummary.emplace_back([isSince, ns](const store::RunSummary& run) {
                return isSince ? run.createdNs >= ns : run.createdNs <= ns;
            });
        });
    }
    auto pattern = patternOf(field, value);
    if (!pattern)
        return tl::unexpected(pattern.error());
    if (field == "name" || field == "folder") {
        const auto text = field == "name" ? &store::RunSummary::name : &store::RunSummary::folder;
        m_ofSummary.emplace_back(
            [text, pattern = std::move(*pattern)](const store::RunSummary& run) { return pattern.matches(run.*text); });
        return {};
    }
    const bool isTag = field == "tag";
    if (!isTag && field != "note")
        return failure(ErrorCode::BadInput, "runs are not chosen by '" + std::string(field) + "'");
    m_ofProfile.emplace_back([isTag, pattern = std::move(*pattern)](const RunProfile& profile) {
        const auto& texts = isTag ? profile.tags : profile.notes;
        return std::any_of(
            texts.begin(), texts.end(), [&pattern](const std::string& text) { return pattern.matches(text); });
    });
    return {};
}

Expected<RunQuery> RunQuery::parse(std::string_view line, std::int64_t nowNs)
{
    RunQuery query;
    for (const std::string& word : wordsOf(line)) {
        const std::size_t colon = word.find(':');
        const std::string_view field = std::string_view(word).substr(0, colon);
        const bool isField
            = colon != std::string::npos && std::find(kFields.begin(), kFields.end(), field) != kFields.end();
        // A name may have a colon, too.
        auto ok = isField ? query.add(field, std::string_view(word).substr(colon + 1), nowNs)
                          : query.add("name", word, nowNs);
        if (!ok)
            return tl::unexpected(ok.error());
    }
    return query;
}

bool RunQuery::mayMatch(const store::RunSummary& run) const
{
    return std::all_of(m_ofSummary.begin(), m_ofSummary.end(), [&run](const auto& holds) { return holds(run); });
}

bool RunQuery::matches(const store::RunSummary& run, const RunProfile* profile) const
{
    return mayMatch(run) && (m_ofProfile.empty() || profile != nullptr)
        && std::all_of(
            m_ofProfile.begin(), m_ofProfile.end(), [profile](const auto& holds) { return holds(*profile); });
}

}
