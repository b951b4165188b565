// SPDX-License-Identifier: GPL-3.0-or-later
#include "sentenceforms.h"

#include <QCoreApplication>

namespace telltale::items {

SentenceForms::SentenceForms(const char* context, std::span<const char* const> texts, const QString& any)
    : m_context(context)
{
    static const QRegularExpression kPlace(QStringLiteral("%\\d"));
    for (const char* text : texts) {
        QString pattern;
        QString longest;
        for (const QString& part : QString::fromUtf8(text).split(kPlace)) {
            pattern += (pattern.isEmpty() ? QStringLiteral("^") : any) + QRegularExpression::escape(part);
            if (part.size() > longest.size())
                longest = part;
        }
        m_forms.push_back(
            { text, longest, QRegularExpression(pattern + u'$', QRegularExpression::DotMatchesEverythingOption) });
    }
}

QString SentenceForms::translated(const QString& english, const std::function<QString(const QString&)>& inner) const
{
    for (const Form& form : m_forms) {
        if (!english.contains(form.longest))
            continue;
        const auto match = form.pattern.match(english);
        if (!match.hasMatch())
            continue;
        QString text = QCoreApplication::translate(m_context, form.text);
        // From behind, in one pass: what is put in may hold a percent sign itself.
        for (qsizetype at = text.size() - 2; at >= 0; --at) {
            const int number = text[at] == u'%' ? text[at + 1].digitValue() : -1;
            if (number > 0 && number <= match.lastCapturedIndex())
                text.replace(at, 2, inner(match.captured(number)));
        }
        return text;
    }
    return {};
}

}
