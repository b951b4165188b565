// SPDX-License-Identifier: GPL-3.0-or-later
#include "namepattern.h"

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
