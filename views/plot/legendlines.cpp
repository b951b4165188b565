// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendlines.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <QCoreApplication>

#include <telltale/common/labels.h>
#include <telltale/common/theme.h>

#include "legendvalue.h"

namespace telltale::views {

namespace {

constexpr double kTall = 33;
constexpr double kName = 19;
constexpr double kWhere = 16;

bool isSecondary(const CurveSeries& one)
{
    return one.isGroup || one.isOtherRank || !one.runName.isEmpty();
}

}

LegendLines::LegendLines(
    const QRectF& area, const CurvePicture& picture, double foot, int firstLine, bool compares, bool hasCursor)
    : m_area(area)
    , m_picture(picture)
    , m_compares(compares)
{
    addLines();
    double room = area.height() - foot;
    // Where not all runs of a name would be said, or all fit beside their values, their ranks are not. Of quantiles the
    // values are not.
    const bool fitsBeside = runsFitBeside();
    if (heightOfLines() > room && !m_compares && (fitsBeside || heightOfHighest() > room)
        && std::ranges::none_of(m_lines, [](const Line& line) { return line.form == Form::Where; })) {
        m_isBrief = true;
        m_hasValues = fitsBeside;
        for (Line& line : m_lines) {
            if (line.form == Form::Run || line.form == Form::LoneRun) {
                line.form = Form::Where;
                line.height = kWhere;
            }
        }
    }
    addReaches(room);
    if (heightOfLines() > room && !hasCursor && placeBeside(room)) {
        m_hasValues = false;
        m_shown = m_lines;
        for (const Line& line : m_shown)
            m_end = std::max(m_end, line.top + line.height);
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
    m_end = top;
}

QString LegendLines::belowName(const CurveSeries& one)
{
    return one.isOfOneRank && one.where.isEmpty() ? one.runName : whereText(one);
}

double LegendLines::wishOf(const CurvePicture& picture, double height)
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

void LegendLines::addReaches(double room)
{
    const auto isBand = [this](const Line& line) {
        return line.form == Form::Where && m_picture.series[static_cast<std::size_t>(line.series)].isGroup;
    };
    const auto bands = static_cast<double>(std::ranges::count_if(m_lines, isBand));
    if (m_compares || heightOfLines() + bands * kMarks > room)
        return;
    for (Line& line : m_lines)
        line.height += isBand(line) ? kMarks : 0;
}

double LegendLines::heightOfLines() const
{
    double height = 0;
    for (const Line& line : m_lines)
        height += line.height;
    return height;
}

double LegendLines::heightOfHighest() const
{
    double highest = 0, height = 0;
    for (const Line& line : m_lines) {
        height = isFirstOfSeries(line) ? line.height : height + line.height;
        highest = std::max(highest, height);
    }
    return highest;
}

bool LegendLines::runsFitBeside() const
{
    const QFontMetricsF words(wordsFont(11, 600));
    return std::ranges::all_of(m_picture.series, [&](const CurveSeries& one) {
        return words.horizontalAdvance(one.runName) <= m_area.width() - 24 - kIndent - kValue;
    });
}

bool LegendLines::placeBeside(double room)
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

bool LegendLines::isFirstOfSeries(const Line& line)
{
    return line.form != Form::Where && line.form != Form::Run && line.form != Form::LoneRun;
}

std::vector<bool> LegendLines::countedLines(const std::vector<bool>& begins) const
{
    std::vector<bool> firsts;
    for (const Line& line : m_lines)
        firsts.push_back(m_areRanksLast ? line.form != Form::Name : isFirstOfSeries(line));
    return std::ranges::count(firsts, true) > 1 ? firsts : begins;
}

LegendLines::Counted LegendLines::whatIs(const std::vector<bool>& isCounted, int first, int end) const
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

QString LegendLines::moreText() const
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

std::vector<bool> LegendLines::beginnings(double room) const
{
    std::vector<bool> begins;
    for (const Line& line : m_lines)
        begins.push_back(isFirstOfSeries(line));
    if (heightOfHighest() <= room && std::ranges::count(begins, true) > 1)
        return begins;
    for (std::size_t i = 1; i < m_lines.size(); ++i)
        begins[i] = m_lines[i - 1].form != Form::Name;
    return begins;
}

void LegendLines::addLines()
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
    const QFontMetricsF figures(numberFont(12, 500));
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
        // Alone under its name, but for a band that says what it is of, it has one line where that holds both.
        const auto isAlone = [&](int at) {
            int next = at + 1;
            while (next < count && !begins(next) && m_picture.series[static_cast<std::size_t>(next)].isGroup
                && !m_picture.series[static_cast<std::size_t>(next)].where.isEmpty())
                ++next;
            return next == count || begins(next);
        };
        const bool fits = plain.horizontalAdvance(one.row.label) <= m_area.width() - 24 - kIndent - kValue;
        if (!isSecondary(one) && !m_compares && begins(i) && isAlone(i) && fits) {
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
        // Of the cursor's value there may be more figures: the lines do not move with it.
        const double newest = figures.horizontalAdvance(LegendValue::newestOf(m_picture, one).text()) + 8;
        const bool isLone = one.isOfOneRank && one.where.isEmpty()
            && runWords.horizontalAdvance(one.runName)
                <= m_area.width() - 24 - kIndent - (m_compares ? kValue : std::min(newest, kValue));
        m_lines.push_back(!saysRun ? Line { i, Form::Where, where + more }
                : isLone           ? Line { i, Form::LoneRun, kWhere + more }
                                   : Line { i, Form::Run, 2 * kWhere + more });
    }
}

void LegendLines::putOtherRanksLast()
{
    const auto isOther = [this](const Line& line) {
        return m_picture.series[static_cast<std::size_t>(line.series)].isOtherRank && line.form == Form::Where;
    };
    const auto names = std::ranges::count_if(m_lines, [](const Line& line) { return line.form == Form::Name; });
    const bool hasRuns = std::ranges::any_of(m_picture.series, [](const auto& one) { return !one.runName.isEmpty(); });
    const QFontMetricsF metrics(codeFont(11, 600));
    // Else a name would take two lines, and once more two.
    const bool fitsBeside = std::ranges::all_of(m_picture.series, [&](const CurveSeries& one) {
        return metrics.horizontalAdvance(one.row.label) <= m_area.width() - 24 - kIndent - kValue;
    });
    if (m_compares || hasRuns || names < 2 || !fitsBeside || std::ranges::none_of(m_lines, isOther))
        return;
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
        if (isName) {
            own.push_back({ line.series, Form::Short, kShort }); // for the next line, too
            ++i;
        } else if (!hasOthers || !isOther(line)) {
            own.push_back(line);
        }
    }
    m_areRanksLast = true;
    m_lines = std::move(own);
    m_lines.insert(m_lines.end(), others.begin(), others.end());
}

}
