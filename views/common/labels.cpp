// SPDX-License-Identifier: GPL-3.0-or-later
#include "labels.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <QStringList>

namespace telltale::views {

namespace {

constexpr QChar kDots(0x2026);

/// A name that loses its front. A path is cut between its points and keeps what stands behind it, " input"; a run
/// between its hyphens and a call site, "all_reduce train.py:55 main before", between its words. The name of its file
/// may lose its own front, "…allel.py:20 main", or all but the line, "…:20 main".
struct Label {
    QString text;
    std::vector<qsizetype> cuts; ///< where it may begin
    QStringList numbers; ///< of a path
    qsizetype firstNumber = -1; ///< where it ends
    qsizetype slot = -1;

    explicit Label(const QString& whole)
        : text(whole)
    {
        const bool isWords = text.contains(u'-') || text.contains(u':') || text.contains(QLatin1String(" #"));
        slot = isWords ? -1 : text.indexOf(u' ');
        const qsizetype end = slot < 0 ? text.size() : slot;
        const qsizetype line = isWords ? text.indexOf(u':') : -1;
        const qsizetype file = line < 0 ? -1 : text.lastIndexOf(u' ', line) + 1;
        const qsizetype suffix = line < 0 ? -1 : text.lastIndexOf(u'.', line);
        qsizetype begin = 0;
        for (qsizetype i = 0; i <= end; ++i) {
            if (i < end && !QLatin1String(isWords ? "-_/ " : ".").contains(text[i])) {
                if ((i > file && i < suffix) || i == line) // the dots would swallow a point
                    cuts.push_back(i);
                continue;
            }
            if (const QString part = text.mid(begin, i - begin); !isWords && isNumber(part)) {
                numbers.append(part);
                firstNumber = firstNumber < 0 ? i : firstNumber;
            }
            begin = i + 1;
            if (i < text.size())
                cuts.push_back(begin);
        }
    }

    static bool isNumber(const QString& part)
    {
        return !part.isEmpty() && std::ranges::all_of(part, [](QChar c) { return c >= u'0' && c <= u'9'; });
    }
};

/// The first letters of the number of a run tell which it is, the last ones of any other name.
QString cutLetters(const QString& text, const QFontMetricsF& metrics, double width)
{
    const qsizetype number = text.lastIndexOf(u'#');
    const bool isRun = number == 0 || (number > 0 && text[number - 1] == u' ');
    if (isRun)
        return metrics.elidedText(text.mid(number), Qt::ElideRight, width);
    const QString rest = metrics.elidedText(text, Qt::ElideLeft, width);
    return rest.startsWith(kDots + QStringLiteral(".")) ? kDots + rest.mid(2) : rest;
}

/// How the front is named, the plainest first: only one that reads unlike every other is taken.
enum class Front { None, Block, Numbers, Module, Word, Letters };

/// Null where it has no such form or does not fit.
QString cut(const Label& label, Front front, const QFontMetricsF& metrics, double width)
{
    if (front == Front::Letters)
        return cutLetters(label.text, metrics, width);
    QString tag;
    if (front != Front::None && !label.numbers.isEmpty())
        tag = QStringLiteral("L%1 ").arg(front == Front::Numbers ? label.numbers.join(u'.') : label.numbers.front());
    // Of names that end alike the part behind the number may tell which is which.
    qsizetype behind = 0;
    if (front == Front::Module) {
        behind = label.text.indexOf(u'.', label.firstNumber + 1) + 1;
        if (label.firstNumber < 0 || behind == 0)
            return {};
        tag += label.text.mid(label.firstNumber + 1, behind - label.firstNumber - 1);
    }
    const QString word = front == Front::Word ? label.text.section(u'.', 0, 0) + u' ' : QString();
    for (const qsizetype from : label.cuts) {
        if (front == Front::Module && from <= behind)
            continue;
        QString text = word + (from > label.firstNumber ? tag : QString()) + kDots + label.text.mid(from);
        if (metrics.horizontalAdvance(text) <= width)
            return text;
    }
    // Of what stands behind a path the beginning tells most: "head 3 mean over queries".
    return label.slot < 0 ? QString()
                          : elideBehind(word + tag + kDots + label.text.mid(label.slot + 1), metrics, width);
}

}

QString elideBehind(const QString& text, const QFontMetricsF& metrics, double width)
{
    const qsizetype micro = text.lastIndexOf(QStringLiteral(" µ"));
    const QString tail = micro < 0 ? QString() : text.mid(micro);
    return metrics.elidedText(text.left(text.size() - tail.size()), Qt::ElideRight,
               width - (tail.isEmpty() ? 0 : metrics.horizontalAdvance(tail)))
        + tail;
}

std::vector<QString> fitLabels(
    const std::vector<QString>& texts, const QFontMetricsF& metrics, double width, bool keepsBlock)
{
    std::map<QString, QString> fitted;
    std::set<QString> taken;
    std::vector<Label> open;
    for (const QString& text : std::set<QString>(texts.begin(), texts.end())) {
        if (metrics.horizontalAdvance(text) <= width)
            fitted[text] = *taken.insert(text).first;
        else
            open.emplace_back(text);
    }
    std::array order { Front::None, Front::Block, Front::Numbers, Front::Module, Front::Word, Front::Letters };
    if (keepsBlock)
        std::rotate(order.begin(), order.begin() + 1, order.begin() + 4); // None behind Module
    for (const Front front : order) {
        std::map<QString, int> said;
        std::vector<QString> forms;
        for (const Label& label : open)
            ++said[forms.emplace_back(cut(label, front, metrics, width))];
        std::vector<Label> rest;
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (forms[i].isEmpty() || said[forms[i]] > 1 || !taken.insert(forms[i]).second)
                rest.push_back(std::move(open[i]));
            else
                fitted[open[i].text] = forms[i];
        }
        open = std::move(rest);
    }
    for (const Label& label : open) { // a number of ours is the last resort
        QString own = cutLetters(label.text, metrics, width);
        for (int number = 2; !taken.insert(own).second; ++number)
            own = cutLetters(label.text, metrics, width - 24) + QStringLiteral(" #%1").arg(number);
        fitted[label.text] = own;
    }
    std::vector<QString> result;
    result.reserve(texts.size());
    for (const QString& one : texts)
        result.push_back(fitted[one]);
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
