// SPDX-License-Identifier: GPL-3.0-or-later
#include "labels.h"

#include <algorithm>
#include <map>
#include <set>

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

/// What stands for a start that is left out: its numbers, by which layers are told apart, else its first part.
QString groupOfStart(QString start)
{
    const QStringList parts = start.replace(u' ', u'.').split(u'.', Qt::SkipEmptyParts);
    QStringList numbers;
    for (const QString& part : parts) {
        if (std::all_of(part.begin(), part.end(), [](QChar c) { return c >= u'0' && c <= u'9'; }))
            numbers.append(part);
    }
    return numbers.isEmpty() ? parts.value(0) : numbers.join(u'\u00B7');
}

QString cutLabel(const QString& text, qsizetype start, const QFontMetricsF& metrics, double width)
{
    if (start == 0 || metrics.horizontalAdvance(text) <= width)
        return metrics.elidedText(text, Qt::ElideRight, width);
    const QString group = groupOfStart(text.left(start)) + u' ';
    const QString rest = kDots + text.mid(start);
    return metrics.elidedText(
        metrics.horizontalAdvance(group) <= width / 2 ? group + rest : rest, Qt::ElideRight, width);
}

/// Without so many of their first chars; those that are alike then lose what they share besides.
void fit(const std::set<QString>& texts, qsizetype start, const QFontMetricsF& metrics, double width,
    std::map<QString, QString>& fitted)
{
    std::map<QString, std::set<QString>> alike;
    for (const QString& text : texts)
        alike[fitted[text] = cutLabel(text, start, metrics, width)].insert(text);
    for (const auto& [cut, originals] : alike) {
        if (originals.size() < 2)
            continue;
        qsizetype more = sharedStart(originals);
        if (more <= start)
            more = sharedStart(originals, QLatin1String("-_/")); // runs' names have no points
        if (more > start)
            fit(originals, more, metrics, width, fitted);
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
    if (shared > 0 && groupOfStart(all.begin()->left(shared)).front().isDigit())
        shared = 0;
    std::set<QString> bare;
    for (const QString& text : all)
        bare.insert(text.mid(shared));
    std::map<QString, QString> fitted;
    fit(bare, 0, metrics, width, fitted);
    std::set<QString> taken;
    for (auto& [text, own] : fitted) {
        for (int number = 2; !taken.insert(own).second; ++number)
            own = metrics.elidedText(text, Qt::ElideRight, width - 24) + QStringLiteral(" #%1").arg(number);
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
