// SPDX-License-Identifier: GPL-3.0-or-later
#include "sentenceforms.h"

#include <QCoreApplication>

namespace telltale::items {

namespace {

// Between letters of the two stands a space, whatever is put in.
bool isHan(QChar letter)
{
    return letter.script() == QChar::Script_Han;
}

bool isLatin(QChar letter)
{
    return letter.isLetterOrNumber() && letter.script() != QChar::Script_Han;
}

}

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
            if (number <= 0 || number > match.lastCapturedIndex())
                continue;
            const QString part = inner(match.captured(number));
            const bool isFrontApart = at > 0 && isHan(text[at - 1]) && !part.isEmpty() && isLatin(part.front());
            const bool isBackApart
                = at + 2 < text.size() && isHan(text[at + 2]) && !part.isEmpty() && isLatin(part.back());
            text.replace(at, 2,
                (isFrontApart ? QStringLiteral(" ") : QString()) + part
                    + (isBackApart ? QStringLiteral(" ") : QString()));
        }
        return text;
    }
    return {};
}

}
