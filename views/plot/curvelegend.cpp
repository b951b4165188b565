// SPDX-License-Identifier: GPL-3.0-or-later
#include "curvelegend.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/labels.h>
#include <telltale/common/seriesstyle.h>

namespace telltale::views {

namespace {

constexpr double kShort = LegendLines::kShort;
constexpr double kIndent = LegendLines::kIndent;
constexpr double kMarks = LegendLines::kMarks;
constexpr double kValue = LegendLines::kValue;
constexpr double kArrow = 19; ///< between what stood at both marks
constexpr double kBy = 16; ///< the line that says what the values are

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

CurveLegend::CurveLegend(const QRectF& area, const CurvePicture& picture, int firstLine, bool compares, bool hasCursor)
    : m_area(area.adjusted(0, compares ? kBy : 0, 0, 0))
    , m_picture(picture)
    , m_lines(m_area, picture, (picture.omitted > 0 ? kShort : 0) + (picture.lacking.isEmpty() ? 0 : kShort), firstLine,
          compares, hasCursor)
    , m_compares(compares)
{
    double end = m_lines.end();
    if (m_lines.above() > 0 || m_lines.below() > 0) {
        m_more = QRectF(area.left(), end, area.width(), kShort);
        end += kShort;
    }
    if (!picture.lacking.isEmpty())
        m_lacking = QRectF(area.left(), end, area.width(), kShort);
    if (picture.omitted > 0)
        m_showAll = QRectF(area.left(), area.bottom() - kShort, area.width(), kShort);
}

QString CurveLegend::lackingText(const CurvePicture& picture, double room)
{
    const auto count = static_cast<int>(picture.lacking.size());
    if (count != 1)
        return count == 0 ? QString() : QCoreApplication::translate("CurveLegend", "%n runs have none", nullptr, count);
    const QString one = QCoreApplication::translate("CurveLegend", "%1 has none", "a compared run, of the curves");
    const QFontMetricsF metrics(wordsFont(11));
    return one.arg(
        fitLabels({ picture.lacking.front() }, metrics, room - metrics.horizontalAdvance(one.arg(QString()))).front());
}

/// What stood at A and B is as wide as its longest figures, to the right edge as the differences, or beyond where it
/// needs the room.
struct CurveLegend::Columns {
    std::vector<QString> runNames; ///< cut to stand beside any of the values, where they do
    double endA = 0;
    double endB = 0;
    double arrow = 0; ///< its right edge
    bool areRanksRows = false; ///< several of a run are

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
        areRanksRows = std::ranges::any_of(legend.m_picture.series,
            [](const CurveSeries& one) { return one.where.isEmpty() && (one.isOtherRank || one.isGroup); });
        endA = endB - b - kArrow;
        runNames = legend.m_lines.runNames();
        if (!legend.m_lines.isBrief() || !legend.m_lines.hasValues())
            return;
        const QFontMetricsF figures(numberFont(12, 500));
        double widest = kValue;
        for (const LegendValue& value : values) {
            if (!value.saysAt) // else it gives way to the name
                widest = std::max(widest, figures.horizontalAdvance(value.text()) + 6);
        }
        std::vector<QString> runs;
        for (const CurveSeries& one : legend.m_picture.series)
            runs.push_back(one.runName);
        const QFontMetricsF words(wordsFont(11, 600));
        const double room = area.width() - 24 - kIndent;
        runNames = fitLabels(runs, words, std::floor(room - widest));
        for (std::size_t i = 0; i < std::min(runs.size(), values.size()); ++i) {
            const double name = words.horizontalAdvance(runs[i]);
            if (name <= room - figures.horizontalAdvance(values[i].textIn(figures, room - name - 8)) - 6)
                runNames[i] = runs[i];
        }
    }
};

double CurveLegend::besideValue(const Line& line, const Columns& columns) const
{
    const auto at = static_cast<std::size_t>(line.series);
    const CurveSeries& one = m_picture.series[at];
    const QFontMetricsF words(wordsFont(11, 600));
    const QString beside = line.form == Form::Tall             ? LegendLines::belowName(one)
        : line.form == Form::Run && one.where.isEmpty()        ? (one.isOfOneRank ? QString() : rankText(one))
        : line.form == Form::Run || line.form == Form::LoneRun ? m_lines.runNames()[at]
        : line.form == Form::Where ? (m_lines.isBrief() ? columns.runNames[at] : rankText(one))
                                   : m_lines.names()[at];
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
    const bool hasNone = line.form == Form::Name || !m_lines.hasValues() || one.isGroup || one.isHidden;
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
        painter.drawText(
            box, Qt::AlignLeft | Qt::AlignVCenter, elideBehind(words, QFontMetricsF(font), std::floor(box.width())));
    };
    if (line.form == Form::Name) {
        painter.setFont(codeFont(11, 500));
        painter.setPen(theme.text);
        write(QRectF(left, line.top + 2, right - left + 1, 16), m_lines.names()[static_cast<std::size_t>(line.series)]);
        return;
    }
    const auto writeReach = [&](double top) { // numbers, which are never cut
        painter.setFont(numberFont(11));
        painter.setPen(theme.text2);
        painter.drawText(QRectF(left, top, right - left, kMarks), Qt::AlignRight | Qt::AlignVCenter, value.where);
    };
    // Beside other ranks the first of a run is a row as they are, and the run's name stands above all of them.
    const bool isRow
        = line.form == Form::Run && columns.areRanksRows && !one.isOfOneRank && !one.isGroup && one.where.isEmpty();
    const double row = line.top + (isRow ? 16 : 0);
    if (isRow) {
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text);
        painter.drawText(QRectF(left, line.top, right - left, 16), Qt::AlignLeft | Qt::AlignVCenter,
            m_lines.runNames()[static_cast<std::size_t>(line.series)]);
    }
    if (one.isHidden)
        painter.setOpacity(0.45);
    paintSwatch(painter, QPointF(left, std::round(row + 8)), one, theme);
    if ((line.form == Form::Run && !isRow) || line.form == Form::LoneRun) {
        // Its name has a line of its own: cut, it would no longer tell which run it is. A word for several has not.
        const double whole = right - left - kIndent;
        painter.setFont(wordsFont(11, bold ? 600 : 400));
        painter.setPen(theme.text);
        const bool hasValueBelow = line.form == Form::Run && one.where.isEmpty();
        write(QRectF(left + kIndent, line.top, whole - (hasValueBelow ? 0 : valueWidth), 16),
            m_lines.runNames()[static_cast<std::size_t>(line.series)]);
        painter.setPen(theme.text3);
        if (one.isGroup && !value.where.isEmpty())
            writeReach(line.top + 15);
        else if (line.form == Form::Run)
            write(QRectF(left + kIndent, line.top + 15, whole - (hasValueBelow ? valueWidth : 0), 15),
                !value.where.isEmpty() ? value.where
                    : one.isOfOneRank  ? one.where
                                       : rankText(one));
    } else if (line.form == Form::Where || isRow) {
        painter.setFont(wordsFont(11, bold ? 600 : 400));
        painter.setPen(one.isOtherRank || one.isGroup ? theme.text2 : theme.text);
        write(QRectF(left + kIndent, row, right - left - kIndent - valueWidth, 16),
            m_lines.isBrief() ? columns.runNames[static_cast<std::size_t>(line.series)] : rankText(one));
        if (line.height > kShort && one.isGroup && !one.isHidden)
            writeReach(line.top + line.height - kMarks);
    } else {
        painter.setFont(codeFont(11, bold ? 600 : 400));
        painter.setPen(theme.text);
        const double room = right - left - kIndent + (line.form == Form::Tall ? 8 : -valueWidth);
        write(QRectF(left + kIndent, line.top, room + 1, 16), m_lines.names()[static_cast<std::size_t>(line.series)]);
    }
    if (line.form == Form::Tall) {
        painter.setFont(wordsFont(11));
        painter.setPen(theme.text3);
        write(QRectF(left + kIndent, line.top + 15, right - left - kIndent - valueWidth, 15),
            LegendLines::belowName(one));
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
    // Under a run stands what its last value may need; where the cursor's fits beside it, it is there.
    const bool isBesideRun = line.form == Form::Run && one.isOfOneRank
        && QFontMetricsF(wordsFont(11, 600))
                    .horizontalAdvance(m_lines.runNames()[static_cast<std::size_t>(line.series)])
                + 2 + valueWidth
            <= right - left - kIndent;
    const bool isBelow
        = line.form == Form::Tall || (line.form == Form::Run && one.where.isEmpty() && !isBesideRun && !isRow);
    // With nothing beside it, it is below the name, not a line of its own.
    const bool isUnderName = line.form == Form::Tall && value.atA.isEmpty() && LegendLines::belowName(one).isEmpty();
    const QRectF box(left + (isUnderName ? kIndent : 0), row + (isBelow ? 14 : 0), right - left - sign, 16);
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
        if (m_lines.hasMarks())
            painter.drawText(heading, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("A \u2192 B"));
    }
    for (const Line& line : m_lines.shown()) {
        const auto at = static_cast<std::size_t>(line.series);
        painter.setOpacity(1);
        paintLine(
            painter, line, at < values.size() ? values[at] : LegendValue {}, emphasised == line.series, columns, theme);
    }
    painter.setOpacity(1);
    painter.setFont(wordsFont(11));
    if (const QString more = m_lines.moreText(); !more.isEmpty()) {
        painter.setPen(theme.text3);
        painter.drawText(m_more.adjusted(14, 0, -10, 0), Qt::AlignLeft | Qt::AlignVCenter, more);
    }
    if (!m_lacking.isNull()) {
        const QRectF line = m_lacking.adjusted(14, 0, -10, 0);
        painter.setPen(theme.text3);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, lackingText(m_picture, line.width()));
    }
    if (m_picture.omitted > 0) {
        painter.setPen(isStatic ? theme.text3 : theme.accent);
        painter.drawText(m_showAll.adjusted(14, 0, -10, 0), Qt::AlignLeft | Qt::AlignVCenter,
            (isStatic ? QCoreApplication::translate("CurveLegend", "%1 not drawn")
                      : QCoreApplication::translate("CurveLegend", "show %1 more"))
                .arg(m_picture.omitted));
    }
    painter.restore();
}

int CurveLegend::seriesAt(QPointF position) const
{
    if (!m_area.contains(position))
        return -1;
    for (const Line& line : m_lines.shown()) {
        const bool isRight = std::ranges::any_of(m_lines.shown(), [&](const Line& other) {
            return other.top == line.top && other.left > line.left && position.x() >= m_area.left() + 14 + other.left;
        });
        if (position.y() >= line.top && position.y() < line.top + line.height && !isRight)
            return line.series;
    }
    return -1;
}

}
