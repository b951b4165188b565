// SPDX-License-Identifier: GPL-3.0-or-later
#include "labels.h"

#include <algorithm>
#include <map>
#include <set>

namespace telltale::views {

namespace {

constexpr QChar kDots(0x2026);

/// Whole parts go from its front, "…qkv.weight"; only where that does not do is one cut.
QString cutFront(const QString& text, const QFontMetricsF& metrics, double width)
{
    for (qsizetype dot = text.indexOf(u'.'); dot > 0 && metrics.horizontalAdvance(text) > width;
         dot = text.indexOf(u'.', dot + 1)) {
        if (QString some = kDots + text.mid(dot + 1); metrics.horizontalAdvance(some) <= width)
            return some;
    }
    return metrics.elidedText(text, Qt::ElideLeft, width);
}

/// Cut at its front, but for the layer's number: "…2.mlp.fc1", or in less room "2…fc1".
QString cutLabel(const QString& text, const QFontMetricsF& metrics, double width)
{
    const QStringList parts = text.split(u'.');
    const auto isNumber = [](const QString& part) {
        return !part.isEmpty() && std::all_of(part.begin(), part.end(), [](QChar c) { return c >= u'0' && c <= u'9'; });
    };
    const auto number = std::find_if(parts.begin(), parts.end(), isNumber);
    if (number == parts.end() || number + 1 == parts.end() || metrics.horizontalAdvance(text) <= width)
        return cutFront(text, metrics, width);
    const QString rest = QStringList(number + 1, parts.end()).join(u'.');
    if (QString whole = (number == parts.begin() ? QString() : QString(kDots)) + *number + u'.' + rest;
        metrics.horizontalAdvance(whole) <= width)
        return whole;
    if (QString plain = *number + u'.' + rest; metrics.horizontalAdvance(plain) <= width)
        return plain;
    // Cut in any case: the dots stand for the point, and for parts that go before a part is cut.
    for (QStringList left = parts.mid(number - parts.begin() + 2); !left.isEmpty(); left.removeFirst()) {
        if (QString some = *number + kDots + left.join(u'.'); metrics.horizontalAdvance(some) <= width)
            return some;
    }
    const double room = std::min(width - metrics.horizontalAdvance(*number), metrics.horizontalAdvance(rest) - 1);
    const QString end = metrics.elidedText(rest, Qt::ElideLeft, room);
    return end.size() > 3 ? *number + end : metrics.elidedText(text, Qt::ElideLeft, width);
}

/// Longest end that all texts share, without any text as a whole.
qsizetype sharedEnd(const std::set<QString>& texts)
{
    const QString& first = *texts.begin();
    qsizetype length = first.size();
    for (const QString& text : texts) {
        qsizetype same = 0;
        while (same < std::min(length, text.size()) && text[text.size() - 1 - same] == first[first.size() - 1 - same])
            ++same;
        length = std::min(same, text.size() - 1);
    }
    return length;
}

}

std::vector<QString> fitLabels(const std::vector<QString>& texts, const QFontMetricsF& metrics, double width)
{
    std::map<QString, QString> fitted;
    std::map<QString, std::set<QString>> alike;
    for (const QString& text : texts) {
        const QString cut = cutLabel(text, metrics, width);
        fitted[text] = cut;
        alike[cut].insert(text);
    }
    for (const auto& [cut, originals] : alike) {
        if (originals.size() < 2)
            continue;
        // The end they share tells nothing apart: it gives way first, from its front, for where they differ.
        const qsizetype end = sharedEnd(originals);
        std::set<QString> taken;
        for (const QString& text : originals) {
            const double dots = metrics.horizontalAdvance(kDots);
            const QString head = text.left(text.size() - end);
            QString own = metrics.elidedText(head, Qt::ElideLeft, width - dots);
            if (end > 0) {
                const double left = width - dots - metrics.horizontalAdvance(own);
                qsizetype tail = 0;
                while (tail < end && metrics.horizontalAdvance(text.right(tail + 1)) <= left)
                    ++tail;
                own += kDots + text.right(tail);
            }
            for (int number = 2; taken.contains(own); ++number)
                own = metrics.elidedText(text, Qt::ElideLeft, width - 24) + QStringLiteral(" #%1").arg(number);
            taken.insert(own);
            fitted[text] = own;
        }
    }
    std::vector<QString> result;
    result.reserve(texts.size());
    for (const QString& text : texts)
        result.push_back(fitted[text]);
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
