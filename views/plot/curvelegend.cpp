// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvelegend.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/labels.h>
#include <telltale/common/seriesstyle.h>

namespace telltale::views {

namespace {

constexpr double kTall = 33;
constexpr double kShort = 18;
constexpr double kName = 19;
constexpr double kWhere = 16;
constexpr double kIndent = 18; ///< room for the swatch
constexpr double kMarks = 15; ///< the values at A and B
constexpr double kArrow = 19; ///< between these
constexpr double kBy = 16; ///< the line that says what the values are
constexpr double kValue = 52; ///< room for most values

bool isSecondary(const CurveSeries& one)
{
    return one.isGroup || one.isOtherRank || !one.runName.isEmpty();
}

/// Beside the value, where that stands below the name.
QString belowName(const CurveSeries& one)
{
    return one.isOfOneRank && one.where.isEmpty() ? one.runName : whereText(one);
}

void paintSwatch(QPainter& painter, QPointF left, const CurveSeries& one, const Theme& theme)
{
    SeriesStyle style = SeriesStyle::forSlot(one.slot, theme);
    if (one.isOtherRun && !one.hasRunColor)
        style = otherRunStyle(style);
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (one.isGroup) {
        QColor fill = style.color;
        fill.setAlphaF(0.3F);
        const QRectF box(left.x(), left.y() - 4, 11, 8);
        painter.fillRect(box, fill);
        painter.fillRect(QRectF(box.left(), box.top(), box.width(), 1), style.color);
        painter.fillRect(QRectF(box.left(), box.bottom() - 1, box.width(), 1), style.color);
        return;
    }
    QPen pen(style.color, one.isOtherRank ? 1 : 2);
    pen.setCapStyle(Qt::FlatCap);
    const double width = pen.widthF();
    if (style.dashOn > 0)
        pen.setDashPattern({ style.dashOn / width, style.dashOff / width });
    painter.setPen(pen);
    painter.drawLine(left, left + QPointF(11, 0));
}

}

CurveLegend::CurveLegend(const QRectF& area, const CurvePicture& picture, int firstLine, bool compares)
    : m_area(area)
    , m_picture(picture)
    , m_compares(compares)
{
    if (m_compares)
        m_area.setTop(area.top() + kBy);
    addLines();
    double room = m_area.height();
    if (picture.omitted > 0) {
        room -= kShort;
        m_showAll = QRectF(area.left(), area.bottom() - kShort, area.width(), kShort);
    }
    // Where not all runs would be named, their ranks are not said: a name stands beside its value. Of quantiles the
    // values are not.
    if (heightOfLines() > room && !m_compares
        && std::ranges::none_of(m_lines, [](const Line& line) { return line.form == Form::Where; })) {
        m_isBrief = true;
        for (Line& line : m_lines) {
            if (line.form == Form::Run || line.form == Form::LoneRun) {
                line.form = Form::Where;
                line.height = kWhere;
            }
        }
    }
    if (heightOfLines() > room && placeBeside(room)) {
        m_shown = m_lines;
        return;
    }
    if (heightOfLines() > room) {
        room -= kShort;
        putOtherRanksLast();
    }
    const std::vector<bool> begins = beginnings(room);
    const auto count = static_cast<int>(m_lines.size());
    const auto beginsAt = [&](int line) { return line >= count || begins[static_cast<std::size_t>(line)]; };
    const auto heightAt = [&](int line) { return m_lines[static_cast<std::size_t>(line)].height; };
    double tail = 0;
    m_lastFirst = count;
    while (m_lastFirst > 0 && tail + heightAt(m_lastFirst - 1) <= room)
        tail += heightAt(--m_lastFirst);
    while (!beginsAt(m_lastFirst))
        ++m_lastFirst;
    int first = std::clamp(firstLine, 0, m_lastFirst);
    while (!beginsAt(first))
        --first;
    int end = first;
    double top = m_area.top();
    for (; end < count && top + heightAt(end) <= m_area.top() + room; ++end) {
        m_lines[static_cast<std::size_t>(end)].top = top;
        top += heightAt(end);
    }
    // A name without its rows would look like one.
    while (end > first && !beginsAt(end))
        top = m_lines[static_cast<std::size_t>(--end)].top;
    m_shown.assign(m_lines.begin() + first, m_lines.begin() + end);
    const auto isCounted = countedLines(begins);
    m_hidden = static_cast<int>(std::count(isCounted.begin() + end, isCounted.end(), true));
    m_above = static_cast<int>(std::count(isCounted.begin(), isCounted.begin() + first, true));
    m_whatIsBelow = whatIs(isCounted, end, count);
    m_whatIsAbove = whatIs(isCounted, 0, first);
    if (m_hidden == 0 && end < count)
        m_hidden = 1; // the rest of the last one
    if (m_hidden > 0 || m_above > 0)
        m_more = QRectF(area.left(), top, area.width(), kShort);
}

double CurveLegend::wishOf(const CurvePicture& picture, double height)
{
    const bool severalWhere = std::ranges::any_of(picture.series, isSecondary);
    const bool tall = static_cast<double>(picture.series.size()) * kTall <= height;
    const QFontMetricsF names(codeFont(11, 600)), words(wordsFont(11, 600));
    double wish = 0; // not of the values: the plot would move with them
    for (const CurveSeries& one : picture.series) {
        const double name = names.horizontalAdvance(one.row.label);
        const double run = one.runName.isEmpty() ? 0 : words.horizontalAdvance(one.runName) + kIndent + kValue + 6;
        wish = std::max({ wish, severalWhere ? name : name + kIndent + (tall ? 0 : kValue + 6), run });
    }
    return std::ceil(wish) + 26;
}

double CurveLegend::heightOfLines() const
{
    double height = 0;
    for (const Line& line : m_lines)
        height += line.height;
    return height;
}

bool CurveLegend::placeBeside(double room)
{
    if (m_compares || std::ranges::any_of(m_lines, [](const Line& line) { return line.form != Form::Short; }))
        return false;
    const auto rows = static_cast<std::size_t>(std::max(room / kShort, 1.0));
    const std::size_t columns = (m_lines.size() + rows - 1) / rows;
    const double width = (m_area.width() - 24) / static_cast<double>(columns);
    const QFontMetricsF names(codeFont(11, 600));
    if (std::ranges::any_of(m_picture.series,
            [&](const CurveSeries& one) { return kIndent + names.horizontalAdvance(one.row.label) + 6 > width; }))
        return false;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const std::size_t column = i / rows;
        m_lines[i] = { static_cast<int>(i), Form::Beside, kShort, m_area.top() + static_cast<double>(i % rows) * kShort,
            static_cast<double>(column) * width };
    }
    return true;
}

bool CurveLegend::isFirstOfSeries(const Line& line)
{
    return line.form != Form::Where && line.form != Form::Run && line.form != Form::LoneRun;
}

std::vector<bool> CurveLegend::countedLines(const std::vector<bool>& begins) const
{
    std::vector<bool> firsts;
    for (const Line& line : m_lines)
        firsts.push_back(m_areRanksLast ? line.form != Form::Name : isFirstOfSeries(line));
    return std::ranges::count(firsts, true) > 1 ? firsts : begins;
}

CurveLegend::Counted CurveLegend::whatIs(const std::vector<bool>& isCounted, int first, int end) const
{
    std::optional<Counted> all;
    if (m_areRanksLast)
        return Counted::Lines; // of several names
    const bool areNames
        = std::ranges::count_if(m_lines, isFirstOfSeries) > 1; // else a name is counted for its own rank
    for (int i = first; i < end; ++i) {
        const Line& line = m_lines[static_cast<std::size_t>(i)];
        const CurveSeries& one = m_picture.series[static_cast<std::size_t>(line.series)];
        if (!isCounted[static_cast<std::size_t>(i)])
            continue;
        const Counted what = areNames                                           ? Counted::Names
            : line.form == Form::Run || line.form == Form::LoneRun || m_isBrief ? Counted::Runs
            : one.isGroup || !one.where.isEmpty()                               ? Counted::Lines
                                                                                : Counted::Ranks;
        if (all.value_or(what) != what)
            return Counted::Lines;
        all = what;
    }
    return all.value_or(Counted::Lines);
}

bool CurveLegend::hasValues() const
{
    return std::ranges::any_of(m_shown, [](const Line& line) { return line.form != Form::Beside; });
}

QString CurveLegend::moreText() const
{
    const auto text = [](Counted what, int count, bool isBelow) {
        switch (what) {
        case Counted::Names:
            return isBelow ? QCoreApplication::translate("CurveLegend", "%n more names below", nullptr, count)
                           : QCoreApplication::translate("CurveLegend", "%n more names above", nullptr, count);
        case Counted::Ranks:
            return isBelow ? QCoreApplication::translate("CurveLegend", "%n more ranks below", nullptr, count)
                           : QCoreApplication::translate("CurveLegend", "%n more ranks above", nullptr, count);
        case Counted::Runs:
            return isBelow ? QCoreApplication::translate("CurveLegend", "%n more runs below", nullptr, count)
                           : QCoreApplication::translate("CurveLegend", "%n more runs above", nullptr, count);
        case Counted::Lines:
            break;
        }
        return isBelow ? QCoreApplication::translate("CurveLegend", "%n more lines below", nullptr, count)
                       : QCoreApplication::translate("CurveLegend", "%n more lines above", nullptr, count);
    };
    if (m_above > 0 && m_hidden > 0)
        return QCoreApplication::translate("CurveLegend", "%1 above, %2 below").arg(m_above).arg(m_hidden);
    return m_hidden > 0 ? text(m_whatIsBelow, m_hidden, true)
        : m_above > 0   ? text(m_whatIsAbove, m_above, false)
                        : QString();
}

std::vector<bool> CurveLegend::beginnings(double room) const
{
    std::vector<bool> begins;
    double highest = 0, height = 0;
    for (const Line& line : m_lines) {
        begins.push_back(isFirstOfSeries(line));
        height = begins.back() ? line.height : height + line.height;
        highest = std::max(highest, height);
    }
    if (highest <= room && std::ranges::count(begins, true) > 1)
        return begins;
    for (std::size_t i = 1; i < m_lines.size(); ++i)
        begins[i] = m_lines[i - 1].form != Form::Name;
    return begins;
}

void CurveLegend::addLines()
{
    const auto count = static_cast<int>(m_picture.series.size());
    const bool severalWhere = std::any_of(m_picture.series.begin(), m_picture.series.end(), isSecondary);
    std::vector<QString> names;
    std::vector<QString> runs;
    const QFontMetricsF plain(codeFont(11, 400));
    double longest = 0;
    for (const CurveSeries& one : m_picture.series) {
        names.push_back(one.row.label);
        runs.push_back(one.runName);
        longest = std::max(longest, plain.horizontalAdvance(one.row.label));
    }
    const bool fitsBeside = longest <= m_area.width() - 24 - kIndent - kValue;
    // Of many in a low strip all differences tell more than all there is of the first.
    m_hasMarks = m_compares && (severalWhere || !fitsBeside || count * (kShort + kMarks) <= m_area.height());
    const double marks = m_hasMarks ? kMarks : 0;
    // A name is not cut for the sake of its value: what then has no room is counted, and the wheel reaches it.
    const bool saysWhere
        = std::ranges::any_of(m_picture.series, [](const auto& one) { return !belowName(one).isEmpty(); });
    const bool tall = (count * (kTall + marks) <= m_area.height() && (saysWhere || !fitsBeside))
        || (!fitsBeside && (m_hasMarks || !m_compares));
    // Above its value a name may go to the edge.
    const double room = m_area.width() - (severalWhere ? 24 : tall ? 16 + kIndent : 24 + kIndent + kValue);
    m_names = fitLabels(names, severalWhere ? QFontMetricsF(codeFont(11, 500)) : plain, room, true);
    const QFontMetricsF runWords(wordsFont(11, 600));
    m_runNames = fitLabels(runs, runWords, m_area.width() - 24 - kIndent);
    double where = kWhere; // below a name; a band below a line of its own is as high as that
    for (int i = 0; i < count; ++i) {
        if (!severalWhere) {
            m_lines.push_back({ i, tall ? Form::Tall : Form::Short, (tall ? kTall : kShort) + marks });
            continue;
        }
        const CurveSeries& one = m_picture.series[static_cast<std::size_t>(i)];
        const auto begins = [&](int at) {
            const CurveSeries& here = m_picture.series[static_cast<std::size_t>(at)];
            const CurveSeries& before = m_picture.series[static_cast<std::size_t>(std::max(at, 1)) - 1];
            return at == 0 || here.row.label != before.row.label
                || (here.slot != before.slot && !here.hasRunColor && !here.isOtherRank && here.where.isEmpty());
        };
        // Alone under its name, but for a band that says what it is of, it has one line.
        const auto isAlone = [&](int at) {
            int next = at + 1;
            while (next < count && !begins(next) && m_picture.series[static_cast<std::size_t>(next)].isGroup
                && !m_picture.series[static_cast<std::size_t>(next)].where.isEmpty())
                ++next;
            return next == count || begins(next);
        };
        if (!isSecondary(one) && !m_compares && begins(i) && isAlone(i)) {
            m_lines.push_back({ i, Form::Short, kShort });
            where = kShort;
            continue;
        }
        if (begins(i)) {
            m_lines.push_back({ i, Form::Name, kName });
            where = kWhere;
        }
        const double more = one.isGroup ? 0 : marks;
        // The run is named once above its ranks.
        const bool saysRun = !one.runName.isEmpty()
            && (begins(i) || m_picture.series[static_cast<std::size_t>(i) - 1].runName != one.runName);
        const bool isLone = one.isOfOneRank && one.where.isEmpty()
            && runWords.horizontalAdvance(one.runName) <= m_area.width() - 24 - kIndent - kValue;
        m_lines.push_back(!saysRun ? Line { i, Form::Where, where + more }
                : isLone           ? Line { i, Form::LoneRun, kWhere + more }
                                   : Line { i, Form::Run, 2 * kWhere + more });
    }
}

void CurveLegend::putOtherRanksLast()
{
    const auto isOther = [this](const Line& line) {
        return m_picture.series[static_cast<std::size_t>(line.series)].isOtherRank && line.form == Form::Where;
    };
    const auto names = std::ranges::count_if(m_lines, [](const Line& line) { return line.form == Form::Name; });
    const bool hasRuns = std::ranges::any_of(m_picture.series, [](const auto& one) { return !one.runName.isEmpty(); });
    if (m_compares || hasRuns || names < 2 || std::ranges::none_of(m_lines, isOther))
        return;
    const QFontMetricsF metrics(codeFont(11, 600));
    const bool fitsBeside = std::ranges::all_of(m_picture.series, [&](const CurveSeries& one) {
        return metrics.horizontalAdvance(one.row.label) <= m_area.width() - 24 - kIndent - kValue;
    });
    std::vector<Line> own, others;
    bool hasOthers = false; // the name at hand, beside its own rank
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const Line& line = m_lines[i];
        if (isFirstOfSeries(line))
            hasOthers = line.form == Form::Name && i + 2 < m_lines.size() && !isOther(m_lines[i + 1])
                && isOther(m_lines[i + 2]);
        const bool isName = hasOthers && line.form == Form::Name;
        if (isName || (hasOthers && isOther(line)))
            others.push_back(line);
        if (isName && fitsBeside) {
            own.push_back({ line.series, Form::Short, kShort }); // for the next line, too
            ++i;
        } else if (isName || !hasOthers || !isOther(line)) {
            own.push_back(line);
        }
    }
    m_areRanksLast = true;
    m_lines = std::move(own);
    m_lines.insert(m_lines.end(), others.begin(), others.end());
}

/// What stood at A and B is as wide as its longest figures, to the right edge as the differences, or beyond where it
/// needs the room.
struct CurveLegend::Columns {
    std::vector<QString> runNames; ///< cut to stand beside any of the values, where they do
    double endA = 0;
    double endB = 0;
    double arrow = 0; ///< its right edge

    Columns(const CurveLegend& legend, const std::vector<LegendValue>& values)
    {
        const QRectF& area = legend.m_area;
        const QFontMetricsF metrics(numberFont(11));
        double a = 0, b = 0;
        for (const LegendValue& value : values) {
            a = std::max(a, metrics.horizontalAdvance(value.atA));
            b = std::max(b, metrics.horizontalAdvance(value.atB));
        }
        const double wish = area.left() + 14 + a + kArrow + b;
        endB = std::clamp(wish, area.right() - 10, area.right() - 2);
        arrow = endB - b - 4;
        endA = endB - b - kArrow;
        if (!legend.m_isBrief)
            return;
        const QFontMetricsF figures(numberFont(12, 500));
        double widest = kValue;
        for (const LegendValue& value : values)
            widest = std::max(widest, figures.horizontalAdvance(value.text()) + 6);
        std::vector<QString> runs;
        for (const CurveSeries& one : legend.m_picture.series)
            runs.push_back(one.runName);
        const QFontMetricsF words(wordsFont(11, 600));
        const double room = area.width() - 24 - kIndent;
        runNames = fitLabels(runs, words, std::floor(room - widest));
        for (std::size_t i = 0; i < std::min(runs.size(), values.size()); ++i) {
            if (words.horizontalAdvance(runs[i]) <= room - figures.horizontalAdvance(values[i].text()) - 6)
                runNames[i] = runs[i];
        }
    }
};

double CurveLegend::besideValue(const Line& line, const Columns& columns) const
{
    const auto at = static_cast<std::size_t>(line.series);
    const CurveSeries& one = m_picture.series[at];
    const QFontMetricsF words(wordsFont(11, 600));
    const QString beside = line.form == Form::Tall             ? belowName(one)
        : line.form == Form::Run && one.where.isEmpty()        ? rankText(one)
        : line.form == Form::Run || line.form == Form::LoneRun ? m_runNames[at]
        : line.form == Form::Where                             ? (m_isBrief ? columns.runNames[at] : rankText(one))
                                                               : m_names[at];
    const bool isName = line.form == Form::Short;
    const double width = (isName ? QFontMetricsF(codeFont(11, 600)) : words).horizontalAdvance(beside);
    return kIndent + (beside.isEmpty() ? 0 : std::ceil(width) + 8);
}

void CurveLegend::paintLine(QPainter& painter, const Line& line, const LegendValue& value, bool bold,
    const Columns& columns, const Theme& theme) const
{
    const CurveSeries& one = m_picture.series[static_cast<std::size_t>(line.series)];
    const double left = m_area.left() + 14 + line.left;
    const double right = m_area.right() - 10;
    const bool hasNone = line.form == Form::Name || line.form == Form::Beside || one.isGroup || one.isHidden;
    const QFont number = numberFont(12, 500);
    const QFontMetricsF figures(number);
    const double valueRoom = right - left - besideValue(line, columns);
    const QString text = hasNone ? QString() : value.textIn(figures, valueRoom);
    const bool hasSign = !hasNone && value.hasSignIn(figures, valueRoom);
    const double sign = hasSign ? LegendValue::kBeforeSign + LegendValue::kSign : 0;
    const double valueWidth = text.isEmpty() ? 0 : figures.horizontalAdvance(text) + sign + 6;
    const auto write = [&](const QRectF& box, const QString& words) {
        QFont font = painter.font();
        font.setStrikeOut(one.isHidden && line.form != Form::Name);
        painter.setFont(font);
        painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(words, Qt::ElideRight, static_cast<int>(box.width())));
    };
    if (line.form == Form::Name) {
        painter.setFont(codeFont(11, 500));
        painter.setPen(theme.text);
        write(QRectF(left, line.top + 2, right - left + 1, 16), m_names[static_cast<std::size_t>(line.series)]);
        return;
    }
    if (one.isHidden)
        painter.setOpacity(0.45);
    paintSwatch(painter, QPointF(left, std::round(line.top + 8)), one, theme);
    if (line.form == Form::Run || line.form == Form::LoneRun) {
        // Its name has a line of its own: cut, it would no longer tell which run it is. A word for several has not.
        const double whole = right - left - kIndent;
        painter.setFont(wordsFont(11, bold ? 600 : 400));
        painter.setPen(theme.text);
        const bool hasValueBelow = line.form == Form::Run && one.where.isEmpty();
        write(QRectF(left + kIndent, line.top, whole - (hasValueBelow ? 0 : valueWidth), 16),
            m_runNames[static_cast<std::size_t>(line.series)]);
        painter.setPen(theme.text3);
        const bool isReach = one.isGroup && !value.where.isEmpty(); // numbers, which are never cut
        if (isReach) {
            painter.setFont(numberFont(11));
            painter.setPen(theme.text2);
            painter.drawText(
                QRectF(left, line.top + 15, right - left, 15), Qt::AlignRight | Qt::AlignVCenter, value.where);
        } else if (line.form == Form::Run) {
            write(QRectF(left + kIndent, line.top + 15, whole - (hasValueBelow ? valueWidth : 0), 15),
                !value.where.isEmpty() ? value.where
                    : one.isOfOneRank  ? one.where
                                       : rankText(one));
        }
    } else if (line.form == Form::Where) {
        painter.setFont(wordsFont(11, bold ? 600 : 400));
        painter.setPen(one.isOtherRank || one.isGroup ? theme.text2 : theme.text);
        write(QRectF(left + kIndent, line.top, right - left - kIndent - valueWidth, 16),
            m_isBrief ? columns.runNames[static_cast<std::size_t>(line.series)] : rankText(one));
    } else {
        painter.setFont(codeFont(11, bold ? 600 : 400));
        painter.setPen(theme.text);
        const double room = right - left - kIndent + (line.form == Form::Tall ? 8 : -valueWidth);
        write(QRectF(left + kIndent, line.top, room + 1, 16), m_names[static_cast<std::size_t>(line.series)]);
    }
    if (line.form == Form::Tall) {
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text3);
        write(QRectF(left + kIndent, line.top + 15, right - left - kIndent - valueWidth, 15), belowName(one));
    }
    const double alone = line.form == Form::Short ? kShort : 0;
    if (!value.atA.isEmpty() && !one.isGroup && !one.isHidden && line.height > alone) {
        painter.setFont(numberFont(11));
        painter.setPen(theme.text2);
        const double below = line.top + line.height - kMarks - 2;
        const auto endAt = [&](double end, const QString& words) {
            painter.drawText(
                QRectF(m_area.left(), below, end - m_area.left(), kMarks), Qt::AlignRight | Qt::AlignVCenter, words);
        };
        endAt(columns.endA, value.atA);
        endAt(columns.endB, value.atB);
        painter.setPen(theme.text3);
        painter.setFont(wordsFont(11));
        endAt(columns.arrow, QStringLiteral("\u2192"));
    }
    painter.setFont(number);
    const bool isCritical = !value.difference && value.atA.isEmpty() && !hasSign && series::isNonFinite(value.state);
    painter.setPen(isCritical ? theme.criticalText : text == QString(QChar(0x2013)) ? theme.text3 : theme.text);
    const bool isBelow = line.form == Form::Tall || (line.form == Form::Run && one.where.isEmpty());
    // With nothing beside it, it is below the name, not a line of its own.
    const bool isUnderName = line.form == Form::Tall && value.atA.isEmpty() && belowName(one).isEmpty();
    const QRectF box(left + (isUnderName ? kIndent : 0), line.top + (isBelow ? 14 : 0), right - left - sign, 16);
    painter.drawText(box, (isUnderName ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, text);
    if (!hasSign)
        return;
    const double end = isUnderName ? box.left() + figures.horizontalAdvance(text) : box.right();
    glyphs::paintCell(painter,
        QRectF(std::round(end + LegendValue::kBeforeSign), box.center().y() - std::floor(LegendValue::kSign / 2),
            LegendValue::kSign, LegendValue::kSign),
        value.state, theme);
}

void CurveLegend::paint(
    QPainter& painter, const std::vector<LegendValue>& values, int emphasised, const Theme& theme, bool isStatic) const
{
    painter.save();
    const Columns columns(*this, values);
    if (m_compares) {
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text3);
        const QRectF heading(m_area.left() + 14, m_area.top() - kBy, m_area.width() - 24, kBy);
        painter.drawText(heading, Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("B \u2212 A"));
        if (m_hasMarks)
            painter.drawText(heading, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("A \u2192 B"));
    }
    for (const Line& line : m_shown) {
        const auto at = static_cast<std::size_t>(line.series);
        painter.setOpacity(1);
        paintLine(
            painter, line, at < values.size() ? values[at] : LegendValue {}, emphasised == line.series, columns, theme);
    }
    painter.setOpacity(1);
    painter.setFont(wordsFont(11));
    if (const QString more = moreText(); !more.isEmpty()) {
        painter.setPen(theme.text3);
        painter.drawText(m_more.adjusted(14, 0, -10, 0), Qt::AlignLeft | Qt::AlignVCenter, more);
    }
    if (m_picture.omitted > 0) {
        painter.setPen(isStatic ? theme.text3 : theme.accent);
        painter.drawText(m_showAll.adjusted(14, 0, -10, 0), Qt::AlignLeft | Qt::AlignVCenter,
            (isStatic ? QCoreApplication::translate("CurveLegend", "%1 not drawn")
                      : QCoreApplication::translate("CurveLegend", "%1 not drawn: show all"))
                .arg(m_picture.omitted));
    }
    painter.restore();
}

int CurveLegend::seriesAt(QPointF position) const
{
    if (!m_area.contains(position))
        return -1;
    for (const Line& line : m_shown) {
        const bool isRight = std::ranges::any_of(m_shown, [&](const Line& other) {
            return other.top == line.top && other.left > line.left && position.x() >= m_area.left() + 14 + other.left;
        });
        if (position.y() >= line.top && position.y() < line.top + line.height && !isRight)
            return line.series;
    }
    return -1;
}

}
