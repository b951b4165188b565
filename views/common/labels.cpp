// SPDX-License-Identifier: GPL-3.0-or-later
#include "labels.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <QStringList>

namespace telltale::views {

namespace {

constexpr QChar kDots(0x2026);

/// A name in parts that are kept or dropped as a whole: of a path between its points, of a run between its hyphens, of
/// a call site, "all_reduce train.py:55 main before", its words.
struct Label {
    QStringList parts;
    QString marks; ///< before each part
    std::vector<bool> isKept;
    QString slot; ///< behind a path, with its space: " input"; of a run its number
    bool isRun = false;

    explicit Label(const QString& text)
        : isRun(text.contains(u'-') || text.contains(QLatin1String(" #")))
    {
        const bool isSite = !isRun && text.contains(u':');
        const qsizetype end = isRun ? text.lastIndexOf(QLatin1String(" #")) : isSite ? -1 : text.indexOf(u' ');
        slot = end < 0 ? QString() : text.mid(end);
        for (const QChar c : text.left(end)) {
            if (parts.isEmpty() || QLatin1String(isRun ? "-_/" : isSite ? " " : ".").contains(c)) {
                parts.append(parts.isEmpty() ? QString(c) : QString());
                marks.append(c);
            } else {
                parts.back() += c;
            }
        }
        isKept.assign(static_cast<std::size_t>(parts.size()), true);
    }

    bool isNumber(qsizetype part) const
    {
        return !isRun && !parts[part].isEmpty()
            && std::all_of(parts[part].begin(), parts[part].end(), [](QChar c) { return c >= u'0' && c <= u'9'; });
    }

    /// "3…fc1.weight": dots stand where parts are missing, but before the number of a layer that begins it.
    QString text() const
    {
        QString text;
        bool isGap = false;
        for (qsizetype i = 0; i < parts.size(); ++i) {
            if (!isKept[static_cast<std::size_t>(i)]) {
                isGap = true;
                continue;
            }
            if (isGap && !(text.isEmpty() && isNumber(i)))
                text += kDots;
            else if (!text.isEmpty())
                text += marks[i];
            text += parts[i];
            isGap = false;
        }
        return isGap ? text + kDots + slot.mid(1) : text + slot;
    }

    /// Whether `other`, from its part `j` on, could stand for what this shows from part `i` on.
    bool covers(const Label& other, qsizetype i = 0, qsizetype j = 0) const
    {
        if (i == parts.size())
            return j == other.parts.size() && slot == other.slot;
        if (isKept[static_cast<std::size_t>(i)])
            return j < other.parts.size() && parts[i] == other.parts[j] && covers(other, i + 1, j + 1);
        j += i > 0 ? 1 : 0;
        while (i < parts.size() && !isKept[static_cast<std::size_t>(i)])
            ++i;
        while (j < other.parts.size() && !covers(other, i, j))
            ++j;
        return covers(other, i, j);
    }

    /// Its parts, the least telling first: words, those before a number, those at the end, numbers. The last stays
    /// where nothing follows it.
    std::vector<qsizetype> dropOrder() const
    {
        const qsizetype end = parts.size() - (slot.isEmpty() ? 1 : 0);
        const auto rankOf = [this](qsizetype i) {
            return isNumber(i) ? 3 : i >= parts.size() - 2 ? 2 : isNumber(i + 1) ? 1 : 0;
        };
        std::vector<qsizetype> order(static_cast<std::size_t>(std::max<qsizetype>(end, 0)));
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, rankOf);
        return order;
    }
};

/// Cut at its end; the number that tells a run from its namesakes stays whole: "demo… #c6c2a041".
QString elided(const QString& text, const QFontMetricsF& metrics, double width)
{
    const qsizetype number = text.lastIndexOf(QLatin1String(" #"));
    const double room = number > 0 ? width - metrics.horizontalAdvance(text.mid(number)) : 0;
    const QString name = metrics.elidedText(text.left(number), Qt::ElideRight, room);
    return metrics.horizontalAdvance(text) <= width || name.size() < 2 ? metrics.elidedText(text, Qt::ElideRight, width)
                                                                       : name + text.mid(number);
}

/// What stands before every path tells nothing, but for the number of a layer.
void dropSharedStart(std::vector<Label>& labels)
{
    const Label first = labels.front();
    qsizetype shared = 0;
    const auto isShared = [&](const Label& label) {
        return !label.isRun && label.parts.size() > shared + 1 && label.parts[shared] == first.parts[shared];
    };
    while (std::ranges::all_of(labels, isShared)) {
        if (first.isNumber(shared++))
            return;
    }
    for (Label& label : labels) {
        label.parts.remove(0, shared);
        label.marks.remove(0, shared);
        label.isKept.resize(static_cast<std::size_t>(label.parts.size()));
    }
}

}

std::vector<QString> fitLabels(const std::vector<QString>& texts, const QFontMetricsF& metrics, double width)
{
    std::set<QString> all(texts.begin(), texts.end());
    all.erase(QString());
    const auto isTooLong = [&](const QString& text) { return metrics.horizontalAdvance(text) > width; };
    std::vector<Label> labels(all.begin(), all.end());
    if (labels.size() > 1 && std::ranges::any_of(all, isTooLong))
        dropSharedStart(labels);
    std::map<QString, QString> fitted;
    std::set<QString> taken;
    auto text = all.begin();
    for (Label& label : labels) {
        // A part goes only where what is left is true of no other name.
        for (const qsizetype part : label.dropOrder()) {
            if (!isTooLong(label.text()))
                break;
            const auto at = static_cast<std::size_t>(part);
            label.isKept[at] = false;
            label.isKept[at] = std::ranges::any_of(
                labels, [&](const Label& other) { return &other != &label && label.covers(other); });
        }
        const QString whole = label.text();
        QString& own = fitted[*text++] = elided(whole, metrics, width);
        if (!taken.insert(own).second)
            own = metrics.elidedText(whole, Qt::ElideLeft, width);
        else
            continue;
        // A number of ours is the last resort.
        for (int number = 2; !taken.insert(own).second; ++number)
            own = metrics.elidedText(whole, Qt::ElideRight, width - 24) + QStringLiteral(" #%1").arg(number);
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
