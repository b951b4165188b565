// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidentsentence.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QRegularExpression>

#include <telltale/common/kindtext.h>
#include <telltale/common/theme.h>
#include <telltale/items/incidentwords.h>
#include <telltale/items/shownname.h>
#include <telltale/judge/rules.h>

namespace telltale::views::incidentsentence {

using judge::Incident;
namespace incidentwords = items::incidentwords;

namespace {

/// What a letter is of, and a number with its unit, on one line.
QString unbroken(QString text)
{
    return text.replace(QStringLiteral(" %"), QStringLiteral("\u00A0%"))
        .replace(QStringLiteral("(z "), QStringLiteral("(z\u00A0"))
        .replace(QStringLiteral("\uFF08z "), QStringLiteral("\uFF08z\u00A0"));
}

}

QString elided(const QString& text, const QFontMetrics& metrics, int width)
{
    QString cut = metrics.elidedText(text, Qt::ElideRight, width);
    qsizetype end = cut.size() - 1; // without the dots
    if (cut == text || end <= 0)
        return cut;
    static const QRegularExpression kNumber(QStringLiteral("[-+\u2212]?[0-9][0-9.,e\u202F+\u2212-]*"));
    for (auto found = kNumber.globalMatch(text); found.hasNext();) {
        const auto number = found.next();
        if (number.capturedStart() < end && end < number.capturedEnd())
            end = number.capturedStart();
    }
    return text.left(end).trimmed() + QChar(0x2026);
}

bool says(const Incident& incident, const judge::Finding& finding)
{
    const std::string_view nonFinite = judge::idOf(judge::Rule::NonFinite);
    return finding.rule == nonFinite && incident.first.rule == nonFinite && finding.step >= incident.first.step;
}

// A block has a norm of each kind, and what befalls one kind befalls others: two lines would be alike but for numbers.
QString evidence(const judge::Finding& finding, std::string_view said)
{
    const bool isNorm
        = finding.sentence.starts_with("the norm of ") || finding.sentence.starts_with("the total norm of ");
    judge::Finding shown = finding;
    if (const std::string subject = shown.sentence.substr(0, shown.sentence.find(" is ") + 4);
        isNorm && subject.ends_with(" is ") && said.starts_with(subject))
        shown.sentence.erase(0, subject.size());
    const QString seen = incidentwords::seen(shown);
    const bool isOfKind = isNorm || finding.sentence == said;
    return unbroken(
        isOfKind ? QCoreApplication::translate("IncidentSentence", "%1: %2").arg(kindText(finding.kind), seen) : seen);
}

QString marked(const Incident& incident)
{
    QString text = incidentwords::card(incident).toHtmlEscaped();
    const auto mark = [&text](const QString& words, const QString& marked) {
        const auto at = words.isEmpty() ? -1 : text.indexOf(words);
        if (at >= 0)
            text.replace(at, words.size(), marked);
        return at >= 0;
    };
    const auto code = [&mark](const QString& words) {
        return mark(words,
            QStringLiteral("<span style=\"font-family:'%1'; font-weight:600\">%2</span>")
                .arg(codeFont(13).families().join(u"','"), words));
    };
    if (!code(incidentwords::place(incident.first).toHtmlEscaped()))
        code(items::shownName(QString::fromStdString(incident.first.name)).toHtmlEscaped());
    const std::int64_t step = incident.first.step.value;
    for (const bool hasRank : { true, false }) {
        const QString moment = incidentwords::moment(incident.first, hasRank);
        QString shown = moment;
        if (mark(moment, QStringLiteral("<b>%1</b>").arg(shown.replace(QString::number(step), formatStep(step)))))
            break;
    }
    return unbroken(text);
}

}
