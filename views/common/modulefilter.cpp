// SPDX-License-Identifier: GPL-3.0-or-later
#include "modulefilter.h"

namespace telltale::views {

namespace {

QString globPattern(const QString& glob)
{
    QString pattern;
    for (const QChar c : glob) {
        if (c == QLatin1Char('*'))
            pattern += QStringLiteral(".*");
        else if (c == QLatin1Char('?'))
            pattern += QLatin1Char('.');
        else
            pattern += QRegularExpression::escape(c);
    }
    return QRegularExpression::anchoredPattern(pattern);
}

}

ModuleFilter::ModuleFilter(const QString& text)
    : m_text(text.trimmed())
{
    if (m_text.isEmpty())
        return;
    if (m_text.size() > 2 && m_text.startsWith(QLatin1Char('/')) && m_text.endsWith(QLatin1Char('/'))) {
        m_mode = Mode::Pattern;
        m_pattern.setPattern(m_text.mid(1, m_text.size() - 2));
    } else if (m_text.contains(QLatin1Char('*')) || m_text.contains(QLatin1Char('?'))) {
        m_mode = Mode::Pattern;
        m_pattern.setPattern(globPattern(m_text));
        m_pattern.setPatternOptions(QRegularExpression::CaseInsensitiveOption);
    } else {
        m_mode = Mode::Part;
    }
    if (m_mode == Mode::Pattern && m_pattern.isValid())
        m_pattern.optimize();
}

bool ModuleFilter::matches(const QString& name) const
{
    switch (m_mode) {
    case Mode::All:
        return true;
    case Mode::Part:
        return name.contains(m_text, Qt::CaseInsensitive);
    case Mode::Pattern:
        return m_pattern.isValid() && m_pattern.match(name).hasMatch();
    }
    return false;
}

}
