// SPDX-License-Identifier: GPL-3.0-or-later
#include "namepattern.h"

#include <algorithm>
#include <cstring>

namespace telltale::items {

namespace {

/// Length of the set that begins at glob[at] == '[', or 0 when it is not closed; `hit` says whether c is in it.
std::size_t matchSet(const std::string& glob, std::size_t at, char c, bool& hit)
{
    std::size_t i = at + 1;
    const bool inverted = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
    if (inverted)
        ++i;
    const std::size_t start = i;
    hit = false;
    for (; i < glob.size() && (glob[i] != ']' || i == start); ++i) {
        if (i + 2 < glob.size() && glob[i + 1] == '-' && glob[i + 2] != ']') {
            hit = hit || (glob[i] <= c && c <= glob[i + 2]);
            i += 2;
        } else {
            hit = hit || glob[i] == c;
        }
    }
    if (i >= glob.size())
        return 0;
    hit = hit != inverted;
    return i - at + 1;
}

}

NamePattern::Names::Names(const std::vector<QString>& names)
{
    for (const QString& name : names) {
        m_starts.push_back(static_cast<std::size_t>(m_joined.size()));
        m_foldedStarts.push_back(m_folded.size());
        m_joined += name;
        m_joined += u'\n';
        m_folded += fold(name);
        m_folded += '\n';
    }
    m_starts.push_back(static_cast<std::size_t>(m_joined.size()));
    m_foldedStarts.push_back(m_folded.size());
}

std::string NamePattern::Names::foldedName(std::size_t i) const
{
    return m_folded.substr(m_foldedStarts[i], m_foldedStarts[i + 1] - m_foldedStarts[i] - 1);
}

std::vector<bool> NamePattern::matchEach(const Names& names) const
{
    std::vector<bool> hits(names.size(), m_form == Form::All);
    if (m_form == Form::Text) {
        matchText(names, m_text, hits);
    } else if (m_form == Form::Glob) {
        // Whatever matches holds the glob's longest plain piece: that is quick to look for.
        std::string longest, piece;
        for (const char c : m_text + '*') {
            const bool isPlain = c != '*' && c != '?';
            piece = isPlain ? piece + c : std::string();
            longest = piece.size() > longest.size() ? piece : longest;
        }
        if (m_text.find('[') != std::string::npos || longest.empty())
            hits.assign(names.size(), true);
        else
            matchText(names, longest, hits);
        for (std::size_t i = 0; i < hits.size(); ++i)
            hits[i] = hits[i] && globMatches(m_text, names.foldedName(i));
    } else if (m_form == Form::Expression && m_error.isEmpty()) {
        matchExpression(names, hits);
    }
    return hits;
}

void NamePattern::matchText(const Names& names, const std::string& text, std::vector<bool>& hits) const
{
    const char* const begin = names.m_folded.data();
    const char* const end = begin + names.m_folded.size();
    const char* at = begin;
    std::size_t line = 0;
    while (at < end) {
        const void* found = memmem(at, static_cast<std::size_t>(end - at), text.data(), text.size());
        if (!found)
            return;
        const auto offset = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
        const auto next = std::upper_bound(
            names.m_foldedStarts.begin() + static_cast<std::ptrdiff_t>(line), names.m_foldedStarts.end(), offset);
        line = static_cast<std::size_t>(next - names.m_foldedStarts.begin());
        hits[line - 1] = true;
        at = begin + *next;
    }
}

void NamePattern::matchExpression(const Names& names, std::vector<bool>& hits) const
{
    QRegularExpression lines(m_expression.pattern(), QRegularExpression::MultilineOption);
    lines.optimize();
    qsizetype at = 0;
    std::size_t line = 0;
    while (at < names.m_joined.size()) {
        // Checking the subject reads all of it, for every match again.
        const QRegularExpressionMatch match = lines.match(
            names.m_joined, at, QRegularExpression::NormalMatch, QRegularExpression::DontCheckSubjectStringMatchOption);
        if (!match.hasMatch())
            return;
        const auto offset = static_cast<std::size_t>(match.capturedStart());
        const auto next = std::upper_bound(
            names.m_starts.begin() + static_cast<std::ptrdiff_t>(line), names.m_starts.end(), offset);
        if (next == names.m_starts.end())
            return;
        line = static_cast<std::size_t>(next - names.m_starts.begin());
        // A match that runs over the end of its line proves nothing about this name alone.
        const bool inside = static_cast<std::size_t>(match.capturedEnd()) < *next;
        const auto start = static_cast<qsizetype>(names.m_starts[line - 1]);
        hits[line - 1] = inside
            || m_expression.match(names.m_joined.mid(start, static_cast<qsizetype>(*next) - start - 1)).hasMatch();
        at = static_cast<qsizetype>(*next);
    }
}

bool globMatches(const std::string& glob, const std::string& text)
{
    std::size_t g = 0, t = 0, star = std::string::npos, resume = 0;
    while (t < text.size()) {
        bool hit = false;
        std::size_t length = 1;
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = t;
            continue;
        }
        if (g < glob.size()) {
            if (glob[g] == '[')
                length = matchSet(glob, g, text[t], hit);
            if (glob[g] != '[' || length == 0) {
                length = 1;
                hit = glob[g] == '?' || glob[g] == text[t];
            }
        }
        if (hit) {
            g += length;
            ++t;
        } else if (star != std::string::npos) {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*')
        ++g;
    return g == glob.size();
}

NamePattern::NamePattern(const QString& text)
{
    const QString trimmed = text.trimmed();
    if (trimmed.isEmpty())
        return;
    if (trimmed.size() > 1 && trimmed.startsWith(u'/') && trimmed.endsWith(u'/')) {
        m_form = Form::Expression;
        m_expression.setPattern(trimmed.mid(1, trimmed.size() - 2));
        if (!m_expression.isValid())
            m_error = m_expression.errorString();
        else
            m_expression.optimize();
        return;
    }
    m_text = fold(trimmed);
    const bool isGlob = m_text.find_first_of("*?[") != std::string::npos;
    m_form = isGlob ? Form::Glob : Form::Text;
}

std::string NamePattern::fold(const QString& name)
{
    return name.toLower().toStdString();
}

bool NamePattern::matches(const QString& name, const std::string& folded) const
{
    switch (m_form) {
    case Form::All:
        return true;
    case Form::Text:
        return memmem(folded.data(), folded.size(), m_text.data(), m_text.size()) != nullptr;
    case Form::Glob:
        return globMatches(m_text, folded);
    case Form::Expression:
        return m_error.isEmpty() && m_expression.match(name).hasMatch();
    }
    return false;
}

}
