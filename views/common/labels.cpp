// SPDX-License-Identifier: GPL-3.0-or-later
#include "labels.h"

#include <algorithm>
#include <map>
#include <set>

#include <QStringList>

namespace telltale::views {

namespace {

constexpr QChar kDots(0x2026);

/// Chars with which all texts begin that can go: whole parts, "model.decoder.", and never all of a text.
qsizetype sharedStart(const std::set<QString>& texts, QLatin1String marks = QLatin1String(". "))
{
    // What the first and the last of the alphabet share, all between them do.
    const QString& first = *texts.begin();
    const QString& last = *texts.rbegin();
    qsizetype same = 0;
    while (same < first.size() - 1 && same < last.size() && first[same] == last[same])
        ++same;
    while (same > 0 && !marks.contains(first[same - 1]))
        --same;
    return same;
}

/// "7·0" of "7.experts.0.fc1": by its numbers a layer is told from the others.
QString numbersOf(QString start)
{
    QStringList numbers;
    for (const QString& part : start.replace(u' ', u'.').split(u'.', Qt::SkipEmptyParts)) {
        if (std::all_of(part.begin(), part.end(), [](QChar c) { return c >= u'0' && c <= u'9'; }))
            numbers.append(part);
    }
    return numbers.join(u'\u00B7');
}

/// Cut at its end; the number that tells a run from its namesakes stays whole: "demo… #c6c2a041".
QString elided(const QString& text, const QFontMetricsF& metrics, double width)
{
    const qsizetype number = text.lastIndexOf(QLatin1String(" #"));
    const double room = number > 0 ? width - metrics.horizontalAdvance(text.mid(number)) : 0;
    const QString name = metrics.elidedText(text.left(number), Qt::ElideRight, room);
    return metrics.horizontalAdvance(text) <= width || name.size() < 2 ? metrics.elidedText(text, Qt::ElideRight, width)
                                                                       : name + text.mid(number);
}

bool startsWithNumber(const QString& text, qsizetype at)
{
    return at < text.size() && text[at] >= u'0' && text[at] <= u'9';
}

/// Without the whole parts before its last ones, but for their numbers: "7 …fc1.weight". Those of runs are no paths.
/// `keepsSlot`: what follows a path, "input", is never cut: its path goes first, "7·0 …input".
QString cutFront(const QString& text, bool keepsSlot, const QFontMetricsF& metrics, double width)
{
    const auto isTooLong = [&](const QString& some) { return metrics.horizontalAdvance(some) > width; };
    const auto cutAt = [&](qsizetype at) {
        const QString numbers = numbersOf(text.left(at));
        return (numbers.isEmpty() ? numbers : numbers + u' ') + kDots + text.mid(at + 1);
    };
    QString some = text;
    const qsizetype slot = text.indexOf(u' ');
    for (qsizetype dot = text.contains(u'-') ? -1 : text.indexOf(u'.'); dot >= 0 && isTooLong(some);
         dot = text.indexOf(u'.', dot + 1)) {
        // A number that ends the path says nothing without the word before it.
        if (!startsWithNumber(text, dot + 1) || (slot < 0 && text.indexOf(u'.', dot + 1) < 0))
            some = cutAt(dot);
    }
    if (keepsSlot && slot > 0 && text.left(slot).contains(u'.') && isTooLong(some) && !isTooLong(cutAt(slot)))
        return cutAt(slot);
    return elided(some, metrics, width);
}

/// Without its first chars, but for what tells them from other ones; what is still too long is cut at its end.
QString cutEnd(const QString& text, qsizetype start, const QFontMetricsF& metrics, double width)
{
    if (start == 0 || metrics.horizontalAdvance(text) <= width)
        return metrics.elidedText(text, Qt::ElideRight, width);
    QString group = numbersOf(text.left(start));
    if (group.isEmpty())
        group = text.section(u'.', 0, 0);
    const QString rest = kDots + text.mid(start);
    if (metrics.horizontalAdvance(group) <= width / 2)
        return metrics.elidedText(group + u' ' + rest, Qt::ElideRight, width);
    return metrics.horizontalAdvance(rest) <= width ? metrics.elidedText(text, Qt::ElideLeft, width)
                                                    : metrics.elidedText(rest, Qt::ElideRight, width);
}

/// Where the last two parts of a path begin, "fc1.weight"; 0 where there are no more, and of a run's name.
qsizetype lastPartsOf(const QString& text)
{
    const qsizetype slot = text.indexOf(u' ');
    const QString path = text.left(slot);
    const qsizetype last = text.contains(u'-') ? -1 : path.lastIndexOf(u'.');
    return last > 0 ? path.lastIndexOf(u'.', last - 1) + 1 : 0;
}

/// How a label is cut; each next way keeps apart what the one before made alike.
struct Cut {
    bool keepsSlot = true;
    bool keepsLastParts = false; ///< from where they begin to the end, which is cut
    std::optional<qsizetype> start; ///< from here to the end, which is cut; none: the front is
};

/// Those that are alike with their ends whole are cut there instead, and then lose what they share before it.
void fit(const std::set<QString>& texts, const Cut& cut, const QFontMetricsF& metrics, double width,
    std::map<QString, QString>& fitted)
{
    std::map<QString, std::set<QString>> alike;
    for (const QString& text : texts) {
        fitted[text] = cut.start ? cutEnd(text, *cut.start, metrics, width)
            : cut.keepsLastParts ? cutEnd(text, lastPartsOf(text), metrics, width)
                                 : cutFront(text, cut.keepsSlot, metrics, width);
        alike[fitted[text]].insert(text);
    }
    for (const auto& [same, originals] : alike) {
        if (originals.size() < 2)
            continue;
        if (!cut.start) {
            const Cut next = cut.keepsSlot ? Cut { false, false, {} }
                : cut.keepsLastParts       ? Cut { false, false, 0 }
                                           : Cut { false, true, {} };
            fit(originals, next, metrics, width, fitted);
            continue;
        }
        qsizetype more = sharedStart(originals);
        if (more <= *cut.start)
            more = sharedStart(originals, QLatin1String("-_/")); // runs' names have no points
        if (more > *cut.start)
            fit(originals, { false, false, more }, metrics, width, fitted);
    }
}

}

std::vector<QString> fitLabels(const std::vector<QString>& texts, const QFontMetricsF& metrics, double width)
{
    std::set<QString> all(texts.begin(), texts.end());
    all.erase(QString());
    // What stands before every name tells nothing, but for the number of a layer.
    qsizetype shared = 0;
    if (all.size() > 1 && std::any_of(all.begin(), all.end(), [&](const QString& text) {
            return metrics.horizontalAdvance(text) > width;
        }))
        shared = sharedStart(all);
    if (shared > 0 && !numbersOf(all.begin()->left(shared)).isEmpty())
        shared = 0;
    std::set<QString> bare;
    for (const QString& text : all)
        bare.insert(text.mid(shared));
    std::map<QString, QString> fitted;
    fit(bare, Cut(), metrics, width, fitted);
    std::set<QString> taken;
    for (auto& [text, own] : fitted) {
        if (taken.insert(own).second)
            continue;
        // A number of ours is the last resort.
        const qsizetype start = lastPartsOf(text);
        const QString end = start > 0 ? kDots + text.mid(start) : text;
        own = cutEnd(text, start, metrics, width);
        if (!taken.insert(own).second)
            own = metrics.elidedText(end, Qt::ElideRight, width);
        for (int number = 2; !taken.insert(own).second; ++number)
            own = metrics.elidedText(end, Qt::ElideRight, width - 24) + QStringLiteral(" #%1").arg(number);
    }
    std::vector<QString> result;
    result.reserve(texts.size());
    for (const QString& text : texts)
        result.push_back(fitted[text.mid(shared)]);
    return result;
}

std::vector<std::optional<double>> placeLabels(
    const std::vector<double>& wanted, double pitch, double low, double high, double mostShift)
{
    std::vector<std::optional<double>> places(wanted.size());
    double last = low - pitch;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double place = std::max(wanted[i], last + pitch);
        if (place - wanted[i] > mostShift)
            continue;
        places[i] = last = place;
    }
    double next = high + pitch;
    for (std::size_t i = wanted.size(); i-- > 0;) {
        if (!places[i])
            continue;
        const double place = std::min(*places[i], next - pitch);
        // Above `low` something else is written.
        if (wanted[i] - place > mostShift || place < low) {
            places[i].reset();
            continue;
        }
        places[i] = next = place;
    }
    return places;
}

}
