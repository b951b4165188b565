// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/namepattern.h>

#include <algorithm>
#include <cstdint>

#include "pcrecode.h"

namespace telltale {
namespace {

constexpr std::string_view kBlank = " \t\r\n\v\f";

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(kBlank);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Letters of other scripts stay as they are: only ASCII has a meaning in an expression.
void appendLiteral(std::string& expression, char c)
{
    const bool isWord = c == '_' || ('0' <= c && c <= '9') || ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z');
    if (!isWord && static_cast<unsigned char>(c) < 0x80)
        expression += '\\';
    expression += c;
}

/// The expression of the set that begins at glob[at] == '['; moves `at` to its end, or gives nothing when it has none.
std::string takeSet(std::string_view glob, std::size_t& at)
{
    std::size_t i = at + 1;
    const bool isInverted = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
    i += isInverted ? 1 : 0;
    const std::size_t end = glob.find(']', i + 1); // "[]a]": the first stands for itself
    if (end == std::string_view::npos)
        return {};
    std::string set = isInverted ? "[^\\n" : "[";
    for (const std::size_t first = i; i < end; ++i) {
        if (glob[i] == '-' && i > first && i + 1 < end)
            set += '-';
        else
            appendLiteral(set, glob[i]);
    }
    at = end;
    return set + ']';
}

std::string expressionOf(std::string_view glob)
{
    // From any part of the name on: "fc*" is meant for layers.0.mlp.fc1. What begins with * is found so anyway.
    std::string expression = glob.front() == '*' ? "^" : "(?:^|(?<=\\.))";
    for (std::size_t i = 0; i < glob.size(); ++i) {
        const std::string set = glob[i] == '[' ? takeSet(glob, i) : std::string();
        if (!set.empty())
            expression += set;
        else if (glob[i] == '*')
            expression += "[^\\n]*?";
        else if (glob[i] == '?')
            expression += "[^\\n]";
        else
            appendLiteral(expression, glob[i]);
    }
    return expression + '$';
}

}

NamePattern::NamePattern(std::string_view text)
{
    text = trimmed(text);
    if (text.empty())
        return;
    std::string expression(text);
    // Names come from other processes: what is no UTF-8 in them must not end the search.
    std::uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
    if (text.size() > 1 && text.front() == '/' && text.back() == '/') {
        m_form = Form::Expression;
        expression = text.substr(1, text.size() - 2);
        options |= PCRE2_MULTILINE;
    } else if (text.find_first_of("*?[") != std::string_view::npos) {
        m_form = Form::Glob;
        expression = expressionOf(text);
        options |= PCRE2_MULTILINE | PCRE2_CASELESS;
    } else {
        m_form = Form::Text;
        options |= PCRE2_LITERAL | PCRE2_CASELESS;
    }
    m_code = pcre::compile(expression, options, m_error);
}

bool NamePattern::matches(std::string_view name) const
{
    return matchesAll() || (m_code && pcre::find(m_code, pcre::matchOf(m_code), name, 0) >= 0);
}

void NamePattern::Names::add(std::string_view name)
{
    m_starts.push_back(m_joined.size());
    m_joined.append(name) += '\n';
}

std::string_view NamePattern::Names::at(std::size_t place) const
{
    const std::size_t start = m_starts[place];
    const std::size_t end = place + 1 < m_starts.size() ? m_starts[place + 1] : m_joined.size();
    return std::string_view(m_joined).substr(start, end - start - 1);
}

std::vector<bool> NamePattern::matchEach(const Names& names) const
{
    std::vector<bool> hits(names.size(), matchesAll());
    if (!m_code)
        return hits;
    const pcre::Match match = pcre::matchOf(m_code);
    const PCRE2_SIZE* const found = pcre2_get_ovector_pointer(match.get()); // where one begins and ends
    const std::string_view joined = names.m_joined;
    std::size_t line = 0;
    for (std::size_t at = 0; at < joined.size();) {
        if (pcre::find(m_code, match, joined, at) < 0)
            break;
        const auto next = std::upper_bound(
            names.m_starts.begin() + static_cast<std::ptrdiff_t>(line), names.m_starts.end(), found[0]);
        line = static_cast<std::size_t>(next - names.m_starts.begin());
        const std::size_t end = next == names.m_starts.end() ? joined.size() : *next;
        // A match that runs over the end of its line proves nothing about this name alone.
        hits[line - 1] = found[1] < end || matches(names.at(line - 1));
        at = end;
    }
    return hits;
}

}
