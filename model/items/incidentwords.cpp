// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidentwords.h"

#include <array>
#include <string>
#include <string_view>

#include <QCoreApplication>

#include <telltale/core/blockname.h>
#include <telltale/core/protocolone.h>

#include "comma.h"
#include "numbertext.h"
#include "sentenceforms.h"
#include "shownname.h"

namespace telltale::items::incidentwords {

namespace {

using judge::Finding;

// As model/judge writes them; of what may stand for a number or name, nothing is said.
constexpr const char* kForms[] {
    QT_TRANSLATE_NOOP("Incident", "an element is %1"),
    QT_TRANSLATE_NOOP("Incident", "the value is %1"),
    QT_TRANSLATE_NOOP("Incident", "%1 of %2 elements"),
    QT_TRANSLATE_NOOP("Incident", "its largest magnitude is %1, %2 times below the limit of its type, %3"),
    QT_TRANSLATE_NOOP("Incident", "the norm of %1 is %2 times its usual %3 (z %4)"),
    QT_TRANSLATE_NOOP("Incident", "the norm of %1 is %2 times below its usual %3 (z %4)"),
    QT_TRANSLATE_NOOP("Incident", "the total norm of %1 is %2 times its usual %3 (z %4)"),
    QT_TRANSLATE_NOOP("Incident", "the total norm of %1 is %2 times below its usual %3 (z %4)"),
    QT_TRANSLATE_NOOP("Incident", "the value of %1 is %2 times its usual %3 (z %4)"),
    QT_TRANSLATE_NOOP("Incident", "the value of %1 is %2 times below its usual %3 (z %4)"),
    QT_TRANSLATE_NOOP("Incident", "has been exactly 0 for %1 steps; it was about %2"),
    QT_TRANSLATE_NOOP("Incident", "has not changed for %1 steps, while other weights have"),
    QT_TRANSLATE_NOOP("Incident", "has had exactly the same norm for %1 steps, while other weights changed"),
    QT_TRANSLATE_NOOP("Incident", "jumped from %1 to %2"),
    QT_TRANSLATE_NOOP("Incident", "fell from %1 to %2"),
    QT_TRANSLATE_NOOP("Incident", "fell %1 times, to %2"),
    QT_TRANSLATE_NOOP("Incident", "rose from %1 to %2"),
    QT_TRANSLATE_NOOP("Incident", "its entropy is %1, and was about %2"),
    QT_TRANSLATE_NOOP("Incident", "its largest logit has grown for %1 steps, to %2; it was about %3"),
    QT_TRANSLATE_NOOP("Incident", "its norm is %1, %2 times what it was about 20 steps before"),
    QT_TRANSLATE_NOOP("Incident", "the norm of %1 grew by %2 % a step, %3 times within %4 steps, to %5"),
    QT_TRANSLATE_NOOP("Incident", "the total norm of %1 grew by %2 % a step, %3 times within %4 steps, to %5"),
    QT_TRANSLATE_NOOP("Incident", "the value of %1 grew by %2 % a step, %3 times within %4 steps, to %5"),
    QT_TRANSLATE_NOOP("Incident", "at this rate its largest magnitude, %1, overflows %2 at about step %3"),
    QT_TRANSLATE_NOOP("Incident",
        "the gradients of %1 are %2 times as large as their second moments know them (sum of g²/v %3, usually %4)"),
    QT_TRANSLATE_NOOP("Incident", "a step changes %1 by %2 % of its weights' norm, and never by more than %3 % before"),
    QT_TRANSLATE_NOOP("Incident", "%1 % of its elements have been exactly 0 for %2 steps; it was about %3 %"),
    QT_TRANSLATE_NOOP(
        "Incident", "holds the same bits on ranks %1, which should hold different parts of it (the same seed?)"),
    QT_TRANSLATE_NOOP("Incident", "differs on rank %1 from the other %2 ranks that held the same bits until then"),
    QT_TRANSLATE_NOOP("Incident", "differs between ranks %1, which held the same bits until then"),
    QT_TRANSLATE_NOOP("Incident", "%1 tries of this step were given up, for gradients that were not finite"),
    QT_TRANSLATE_NOOP("Incident", "%1 tries within %2 steps were given up, for gradients that were not finite"),
    QT_TRANSLATE_NOOP("Incident", "only rank %1 of %2 was abnormal"),
    QT_TRANSLATE_NOOP("Incident", "%1 of %2 ranks were abnormal"),
    QT_TRANSLATE_NOOP("Incident", "computes %1 % longer than %2 (z %3)"),
    QT_TRANSLATE_NOOP("Incident", "%1 is %2 times that of %3 (z %4)"),
    QT_TRANSLATE_NOOP("Incident", "%1 is 1/%2 of that of %3 (z %4)"),
    QT_TRANSLATE_NOOP(
        "Incident", "%1 is on one rank %2 times that on the other, and none of them left its own past (z %3)"),
    QT_TRANSLATE_NOOP(
        "Incident", "%1 is on one rank 1/%2 of that on the other, and none of them left its own past (z %3)"),
    QT_TRANSLATE_NOOP("Incident", "the gradient noise scale of ranks %1 is %2 batches of a step, %3 times what it was"),
    QT_TRANSLATE_NOOP(
        "Incident", "the gradient noise scale of ranks %1 is %2 batches of a step, %3 times below what it was"),
    QT_TRANSLATE_NOOP("Incident", "the gradient noise scale of ranks %1 is %2 batches of a step: a step follows noise"),
    QT_TRANSLATE_NOOP("Incident", "unlike the attempt before it, %1"),
    QT_TRANSLATE_NOOP("Incident", "the norms of %1 of %2 weights are others: %3, and was %4"),
    QT_TRANSLATE_NOOP("Incident", "the learning rate is %1, and was %2"),
    QT_TRANSLATE_NOOP("Incident", "the optimizer has no first moments, which %1 tensors had"),
    QT_TRANSLATE_NOOP("Incident", "the optimizer has no second moments, which %1 tensors had"),
    QT_TRANSLATE_NOOP("Incident", "the first moments of %1 of %2 tensors are others: %3, and was %4"),
    QT_TRANSLATE_NOOP("Incident", "the second moments of %1 of %2 tensors are others: %3, and was %4"),
    QT_TRANSLATE_NOOP("Incident", "Its inputs and weights were finite."),
    QT_TRANSLATE_NOOP("Incident", "Its output's gradient and weights were finite."),
    QT_TRANSLATE_NOOP("Incident", "Its inputs were finite."),
    QT_TRANSLATE_NOOP("Incident", "Its output's gradient was finite."),
    QT_TRANSLATE_NOOP("Incident", "Its inputs were not finite either."),
    QT_TRANSLATE_NOOP("Incident", "Its output's gradient was not finite either."),
    QT_TRANSLATE_NOOP("Incident", "Its weights were finite."),
    // Of a norm that is named beside it; these fit the longer ones above, too.
    QT_TRANSLATE_NOOP("Incident", "%1 times its usual %2 (z %3)"),
    QT_TRANSLATE_NOOP("Incident", "%1 times below its usual %2 (z %3)"),
};
/// What stands in those for a name.
constexpr const char* kPhrases[] {
    QT_TRANSLATE_NOOP("Incident", "NaN in %1"),
    QT_TRANSLATE_NOOP("Incident", "+Inf in %1"),
    QT_TRANSLATE_NOOP("Incident", "-Inf in %1"),
    QT_TRANSLATE_NOOP("Incident", "the value"),
    QT_TRANSLATE_NOOP("Incident", "the norm of %1"),
    QT_TRANSLATE_NOOP("Incident", "the total norm of %1"),
    QT_TRANSLATE_NOOP("Incident", "the other rank"),
    QT_TRANSLATE_NOOP("Incident", "the median of %1 ranks that do the same"),
};
constexpr std::array kPhases {
    QT_TRANSLATE_NOOP("Incident", "weight"),
    QT_TRANSLATE_NOOP("Incident", "forward"),
    QT_TRANSLATE_NOOP("Incident", "loss"),
    QT_TRANSLATE_NOOP("Incident", "backward"),
    QT_TRANSLATE_NOOP("Incident", "gradient"),
    QT_TRANSLATE_NOOP("Incident", "optimizer"),
    QT_TRANSLATE_NOOP("Incident", "after the step"),
    QT_TRANSLATE_NOOP("Incident", "step"),
};
static_assert(kPhases.size() == static_cast<std::size_t>(judge::Phase::Step) + 1);

QString inLanguage(const QString& english, bool isName)
{
    static const SentenceForms kSentences("Incident", kForms, QStringLiteral("((?:(?!; ).)+?)"));
    static const SentenceForms kNames("Incident", kPhrases, QStringLiteral("((?:(?!, ).)+?)")); // one of a list
    const auto inner = [](const QString& part) {
        const QString number = reformatNumber(part);
        return number == part ? inLanguage(part, true) : number;
    };
    if (QString text = isName ? kNames.translated(english, inner) : QString(); !text.isEmpty())
        return text;
    if (QString text = kSentences.translated(english, inner); !text.isEmpty())
        return text;
    for (const auto& [mark, own] :
        { std::pair(QStringLiteral("; "), semicolon()), std::pair(QStringLiteral(", "), comma()) }) {
        const QStringList parts = english.split(mark);
        QStringList all;
        for (const QString& part : parts) {
            const QString text = kSentences.translated(part, inner);
            all.append(text.isEmpty() ? kNames.translated(part, inner) : text);
        }
        if (parts.size() > 1 && !all.contains(QString()))
            return all.join(own);
    }
    return isName ? shownName(english) : english;
}

QString plain(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}

std::vector<const char*> forms()
{
    std::vector<const char*> all(std::begin(kForms), std::end(kForms));
    all.insert(all.end(), std::begin(kPhrases), std::end(kPhrases));
    return all;
}

QString seen(const Finding& finding)
{
    QString sentence = plain(finding.sentence);
    // Older records call what was summed over a block its norm, beside the name of a part of it.
    if (const std::string block = blockOf(finding.name); block != finding.name) {
        for (const QString& of : { plain(block), QStringLiteral("its block ") + plain(block) }) {
            if (const QString known = QStringLiteral("the norm of %1 ").arg(of); sentence.startsWith(known))
                sentence.replace(0, known.size(), QStringLiteral("the total norm of %1 ").arg(plain(block)));
        }
    }
    return inLanguage(sentence, false);
}

QString withMicroStep(const QString& place, const Finding& finding)
{
    return finding.microStep > 0 ? place + QStringLiteral(" µ%1").arg(finding.microStep) : place;
}

QString place(const Finding& finding)
{
    return withMicroStep(
        shownTensor(plain(finding.name), protocolone::slotOf(finding.slot, finding.kind), u':'), finding);
}

QString moment(const Finding& finding, bool hasRank)
{
    return hasRank ? QCoreApplication::translate("Incident", "step %1, rank %2")
                         .arg(formatStep(finding.step.value))
                         .arg(finding.rank.value)
                   : QCoreApplication::translate("Incident", "step %1").arg(formatStep(finding.step.value));
}

QString phaseText(judge::Phase phase)
{
    return QCoreApplication::translate("Incident", kPhases.at(static_cast<std::size_t>(phase)));
}

QString card(const judge::Incident& incident)
{
    const Finding& first = incident.first;
    QString recorded = plain(incident.sentence);
    const QString began = QStringLiteral("First abnormal: step %1").arg(first.step.value);
    const QString rank = QStringLiteral(", rank %1").arg(first.rank.value);
    const bool hasRank = recorded.startsWith(began + rank);
    const std::string_view phase = judge::phaseWord(incident.phase);
    const QString known = began + (hasRank ? rank : QString())
        + QStringLiteral(", %1, %2: %3.").arg(plain(judge::placeOf(first)), plain(phase), plain(first.sentence));
    if (!recorded.startsWith(known))
        return recorded;
    const QString test = recorded.mid(known.size()).trimmed();
    const QString when = moment(first, hasRank);
    const QString pass = phaseText(incident.phase);
    const QString text = incident.phase == judge::Phase::Step // that it is of a step its moment has said
        ? QCoreApplication::translate("Incident", "First abnormal: %1, %2: %3.").arg(when, place(first), seen(first))
        : QCoreApplication::translate("Incident", "First abnormal: %1, %2, %3: %4.")
              .arg(when, place(first), pass, seen(first));
    return test.isEmpty() ? text : sentences(text, inLanguage(test, false));
}

}
