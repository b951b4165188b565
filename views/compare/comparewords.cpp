// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparewords.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <QCoreApplication>
#include <QRegularExpression>

#include <telltale/common/kindtext.h>
#include <telltale/common/theme.h>
#include <telltale/items/comma.h>
#include <telltale/items/shownname.h>

namespace telltale::views {
namespace {

constexpr int kFigures = 4; ///< of a value, as everywhere
constexpr int kMostFigures = 17; ///< that tell any two doubles apart

QString text(std::string_view word)
{
    return QString::fromUtf8(word.data(), static_cast<qsizetype>(word.size()));
}

/// Of "0.0137" 3; 0 of what is written with a power of ten, and of what is no number.
int figuresOf(const QString& number)
{
    static const QRegularExpression kPlain(QRegularExpression::anchoredPattern(QStringLiteral("[-\u2212]?[\\d.]+")));
    QString digits = kPlain.match(number).hasMatch() ? number : QString();
    return static_cast<int>(digits.remove(QRegularExpression(QStringLiteral("^[^1-9]+|\\."))).size());
}

/// "1.37" beside "1.695" is "1.370".
QString withFigures(const QString& number, int figures)
{
    const int missing = figuresOf(number) > 0 ? figures - figuresOf(number) : 0;
    if (missing == 0)
        return number;
    return number + (number.contains(u'.') ? QString() : QStringLiteral(".")) + QString(missing, u'0');
}

}

QString comparisonSentence(const judge::Comparison& found)
{
    const QString tolerance = items::reformatNumber(QString::number(found.tolerance, 'g', 6));
    if (found.compared == 0)
        return QCoreApplication::translate("CompareWords", "Nothing was measured in both at steps %1 to %2.")
            .arg(formatStep(found.steps.first.value))
            .arg(formatStep(found.steps.last.value));
    if (found.isEqual())
        return found.tolerance == 0
            ? QCoreApplication::translate("CompareWords", "Equal at all steps from %1 to %2.")
                  .arg(formatStep(found.steps.first.value))
                  .arg(formatStep(found.steps.last.value))
            : QCoreApplication::translate("CompareWords", "Equal to %1 at all steps from %2 to %3.")
                  .arg(tolerance)
                  .arg(formatStep(found.steps.first.value))
                  .arg(formatStep(found.steps.last.value));
    const judge::Deviation& one = found.first.front();
    QString until;
    if (found.tolerance == 0)
        until = QCoreApplication::translate("CompareWords", "Equal until step %1").arg(formatStep(one.step.value - 1));
    else
        until = QCoreApplication::translate("CompareWords", "Equal to %1 until step %2")
                    .arg(tolerance)
                    .arg(formatStep(one.step.value - 1));
    const auto [a, b] = deviationTexts(one);
    QString sentence = (one.step == found.steps.first
            ? QCoreApplication::translate(
                "CompareWords", "Different from step %1 on: rank %2, %3 (%4; %5): %6 against %7")
            : QCoreApplication::translate("CompareWords", "%1; first: step %2, rank %3, %4 (%5; %6): %7 against %8")
                  .arg(until))
                           .arg(formatStep(one.step.value))
                           .arg(one.rank.value)
                           .arg(items::shownTensor(text(one.key.name), one.key.slot, u':'), kindText(one.kind),
                               statText(one.stat), a, b);
    if (std::isfinite(one.relative))
        sentence += QCoreApplication::translate("CompareWords", " (by %1 of the larger)").arg(shareText(one.relative));
    return sentence + QCoreApplication::translate("CompareWords", ".");
}

QStringList comparisonNotes(const judge::Comparison& found)
{
    QStringList notes { QCoreApplication::translate("CompareWords", "%1 of %2 values of %3 series differ")
                            .arg(formatStep(static_cast<qint64>(found.differing)),
                                formatStep(static_cast<qint64>(found.compared)),
                                formatStep(static_cast<qint64>(found.rows))) };
    if (found.onlyInA > 0)
        notes.append(QCoreApplication::translate("CompareWords", "%1 series only in A")
                         .arg(formatStep(static_cast<qint64>(found.onlyInA))));
    if (found.onlyInB > 0)
        notes.append(QCoreApplication::translate("CompareWords", "%1 series only in B")
                         .arg(formatStep(static_cast<qint64>(found.onlyInB))));
    if (found.unmatched > 0)
        notes.append(QCoreApplication::translate("CompareWords", "%1 values without a counterpart left out")
                         .arg(formatStep(static_cast<qint64>(found.unmatched))));
    const auto suspicious = std::count_if(
        found.signs.begin(), found.signs.end(), [](const auto& one) { return one.verdict.isSuspicious(); });
    if (!found.signs.empty())
        notes.append(QCoreApplication::translate("CompareWords", "signs of %1 of %2 gradients suspicious")
                         .arg(suspicious)
                         .arg(found.signs.size()));
    if (suspicious > 0) {
        const judge::Comparison::OfSigns& first = found.signs.front();
        const QString then = QString::number(first.verdict.then, 'g', 4);
        const bool isAtMost = first.verdict.isAtMost;
        const QString share = !first.verdict.before
            ? (isAtMost ? QCoreApplication::translate("CompareWords", "at most %1 of the signs are the same")
                        : QCoreApplication::translate("CompareWords", "only %1 of the signs are the same"))
                  .arg(then)
            : (isAtMost ? QCoreApplication::translate(
                   "CompareWords", "the largest possible share of equal signs falls from %1 to %2")
                        : QCoreApplication::translate("CompareWords", "the share of equal signs falls from %1 to %2"))
                  .arg(QString::number(*first.verdict.before, 'g', 4), then);
        notes.last() += items::comma()
            + QCoreApplication::translate("CompareWords", "first: step %1, rank %2, %3: %4")
                  .arg(formatStep(first.verdict.suspicious->value), QString::number(first.rank.value),
                      items::shownTensor(text(first.key.name), first.key.slot, u':'), share);
    }
    return notes;
}

QString firstOfMapText(const judge::Comparison& found, const judge::Deviation& one)
{
    const judge::Deviation& named = found.first.front();
    if (std::tie(one.kind, one.stat, one.rank, one.step) == std::tie(named.kind, named.stat, named.rank, named.step))
        return {};
    return QCoreApplication::translate("CompareWords", "in this map: step %1, %2")
        .arg(formatStep(one.step.value), items::shownTensor(text(one.key.name), one.key.slot, u':'));
}

QString firstOfShownText(const judge::Deviation* one)
{
    if (!one)
        return QCoreApplication::translate("CompareWords", "of the modules shown: nothing differs");
    return QCoreApplication::translate("CompareWords", "of the modules shown: step %1, %2")
        .arg(formatStep(one->step.value), items::shownTensor(text(one->key.name), one->key.slot, u':'));
}

glyphs::Severity severityOf(const judge::Deviation& one)
{
    return series::isNonFinite(one.a.state) || series::isNonFinite(one.b.state) ? glyphs::Severity::Critical
                                                                                : glyphs::Severity::Warning;
}

QString shareText(double share)
{
    return QCoreApplication::translate("CompareWords", "%1 %")
        .arg(items::reformatNumber(QString::number(share * 100, 'g', 3)));
}

std::pair<QString, QString> deviationTexts(const judge::Deviation& one)
{
    if (isIdentity(one.stat)) {
        const auto [a, b] = judge::comparedTexts(one);
        return { text(a), text(b) };
    }
    const std::pair brief { judge::comparedText(one.a, one.stat, false), judge::comparedText(one.b, one.stat, false) };
    std::pair texts { items::reformatNumber(text(brief.first)), items::reformatNumber(text(brief.second)) };
    for (int figures = kFigures + 1; texts.first == texts.second && figures <= kMostFigures; ++figures)
        texts = { formatValue(one.a.value, figures), formatValue(one.b.value, figures) };
    if (const int figures = std::max(figuresOf(texts.first), figuresOf(texts.second));
        (texts.first + texts.second).contains(u'.'))
        texts = { withFigures(texts.first, figures), withFigures(texts.second, figures) };
    return texts;
}

QString factValueText(const judge::DifferingFact& fact, const std::string& value)
{
    using namespace judge::factsection;
    static const QRegularExpression kSteps(QRegularExpression::anchoredPattern(QStringLiteral("(-?\\d+) to (-?\\d+)")));
    static const QRegularExpression kRevision(QRegularExpression::anchoredPattern(QStringLiteral("step (-?\\d+)(.*)")),
        QRegularExpression::DotMatchesEverythingOption);
    if (fact.section == kRun && fact.name == "steps") {
        if (const auto match = kSteps.match(text(value)); match.hasMatch())
            return QCoreApplication::translate("CompareWords", "from %1 to %2", "steps of a run")
                .arg(formatStep(match.captured(1).toLongLong()), formatStep(match.captured(2).toLongLong()));
    }
    if (fact.section == kRevisions) {
        if (const auto match = kRevision.match(text(value)); match.hasMatch())
            return QCoreApplication::translate("CompareWords", "step %1", "from which a change of a config is in force")
                       .arg(formatStep(match.captured(1).toLongLong()))
                + match.captured(2);
    }
    return text(value);
}

QString factSectionText(const std::string& section)
{
    using namespace judge::factsection;
    if (section == kConfig)
        return QCoreApplication::translate("CompareWords", "config");
    if (section == kRevisions)
        return QCoreApplication::translate("CompareWords", "config changes");
    if (section == kHyperparameters)
        return QCoreApplication::translate("CompareWords", "hyperparameters");
    if (section == kEnvironment)
        return QCoreApplication::translate("CompareWords", "environment");
    if (section == kRun)
        return QCoreApplication::translate("CompareWords", "run");
    return text(section);
}

}
