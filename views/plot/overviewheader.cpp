// SPDX-License-Identifier: GPL-3.0-or-later
#include "overviewheader.h"

#include <algorithm>

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>

namespace telltale::views {

using series::CellState;

namespace {

constexpr int kSwatch = 14; ///< length of a line's sample
constexpr std::size_t kMostHeaderRanks = 4;
constexpr double kTitleLeft = 12; ///< where one is wider than the gutter
constexpr double kTitleRoom = SharedAxis::kGutter - 12; ///< beside the plot's numbers
constexpr double kMostTitle = 0.4; ///< of a plot's width

QString moreText(std::size_t count)
{
    return QCoreApplication::translate("telltale::views::OverviewCanvas", "%1 more").arg(count);
}

QString allText(int count)
{
    return QCoreApplication::translate("telltale::views::OverviewCanvas", "on all %n ranks", nullptr, count);
}

/// Writes from the right to the left.
class HeaderWords {
public:
    HeaderWords(QPainter& painter, const QRectF& line)
        : m_painter(painter)
        , m_line(line)
        , m_right(line.right())
    {
    }
    void put(const QString& text, const QFont& font, const QColor& color, double gap)
    {
        m_painter.setFont(font);
        m_painter.setPen(color);
        const double width = QFontMetricsF(font).horizontalAdvance(text);
        m_painter.drawText(QRectF(m_right - width - 1, m_line.top(), width + 2, m_line.height()),
            Qt::AlignRight | Qt::AlignVCenter, text);
        m_right -= width + gap;
    }
    void putSwatch(const CurveSeries& one, const Theme& theme)
    {
        const SeriesStyle style = SeriesStyle::forSlot(one.slot, theme);
        QPen pen(style.color, 2);
        pen.setCapStyle(Qt::FlatCap);
        if (style.dashOn > 0)
            pen.setDashPattern({ style.dashOn / 2.0, style.dashOff / 2.0 });
        m_painter.setPen(pen);
        const double y = m_line.center().y() + 1;
        m_painter.drawLine(QPointF(m_right - kSwatch, y), QPointF(m_right, y));
        m_right -= kSwatch + 14;
    }
    double right() const { return m_right; }

private:
    QPainter& m_painter;
    QRectF m_line;
    double m_right;
};

/// All of them are ranks of one run and ended with the same.
bool areAlike(const CurvePicture& scalar)
{
    const QString value = lastValueOf(scalar.series.front()).value;
    return scalar.series.size() > 1
        && std::all_of(scalar.series.begin(), scalar.series.end(),
            [&](const CurveSeries& one) { return !one.isGroup && !one.isOtherRun && lastValueOf(one).value == value; });
}

/// `saysBefore`: there is room for its last finite value.
void paintRank(HeaderWords& words, const CurveSeries& one, const QString& where, bool isFirst, bool saysBefore)
{
    const Theme& theme = Theme::current();
    if (!one.isGroup) {
        const LastValue last = lastValueOf(one);
        words.put(last.value, numberFont(12, isFirst ? 600 : 400), last.critical ? theme.criticalText : theme.text, 6);
        if (saysBefore && !last.before.isEmpty())
            words.put(last.before, wordsFont(11), theme.text2, 8);
    }
    if (!where.isEmpty())
        words.put(where, wordsFont(11), theme.text3, 16);
}

/// The last values by rank, the selected one's in the strongest weight; of the others as many as there is room for
/// beside the title.
void paintRanks(HeaderWords& words, const CurvePicture& scalar, double left)
{
    const std::vector<CurveSeries>& all = scalar.series;
    const QFontMetricsF names(wordsFont(11)), numbers(numberFont(12, 600));
    const auto beforeWidth
        = [&](const CurveSeries& one) { return names.horizontalAdvance(lastValueOf(one).before) + 8; };
    const double whole = words.right() - left;
    if (areAlike(scalar)) {
        const bool saysBefore
            = whole > beforeWidth(all.front()) + numbers.horizontalAdvance(lastValueOf(all.front()).value);
        paintRank(words, all.front(), allText(static_cast<int>(all.size())), true, saysBefore);
        return;
    }
    const auto whereOf
        = [&](const CurveSeries& one) { return one.isGroup || all.size() > 1 ? whereText(one) : QString(); };
    const auto widthOf = [&](const CurveSeries& one) {
        const QString value = one.isGroup ? QString() : lastValueOf(one).value;
        return numbers.horizontalAdvance(value) + 6 + names.horizontalAdvance(whereOf(one)) + 16;
    };
    double room = whole - widthOf(all.front());
    const bool saysBefore = room > beforeWidth(all.front());
    room -= (saysBefore ? beforeWidth(all.front()) : 0) + names.horizontalAdvance(moreText(all.size()));
    std::vector<const CurveSeries*> shown { &all.front() };
    for (std::size_t i = 1; i < std::min(all.size(), kMostHeaderRanks); ++i) {
        room -= widthOf(all[i]);
        if (room < 0)
            break;
        shown.push_back(&all[i]);
    }
    const auto place = [](const CurveSeries* one) { return std::pair(one->isGroup, one->row.rank.value); };
    if (!all.front().isOtherRun
        && std::none_of(shown.begin(), shown.end(), [](const auto* one) { return one->isOtherRun; }))
        std::stable_sort(shown.begin(), shown.end(), [&](const auto* a, const auto* b) { return place(a) < place(b); });
    for (std::size_t i = shown.size(); i-- > 0;)
        paintRank(
            words, *shown[i], whereOf(*shown[i]), shown[i] == &all.front(), saysBefore && shown[i] == &all.front());
    if (all.size() > shown.size())
        words.put(moreText(all.size() - shown.size()), wordsFont(11), Theme::current().text3, 16);
}

/// The lines of a shared plot with their last values, as many as there is room for beside the title.
void paintLines(HeaderWords& words, const ScalarPanel& panel, double left)
{
    const Theme& theme = Theme::current();
    const std::vector<const CurveSeries*> lines = ownLines(panel.picture);
    if (lines.size() < panel.picture.series.size() && !lines.empty())
        words.put(whereText(*lines.front()), wordsFont(11), theme.text3, 16);
    const QFontMetricsF names(wordsFont(11)), numbers(numberFont(12));
    double room = words.right() - left - names.horizontalAdvance(moreText(lines.size())) - 16;
    std::size_t count = 0;
    for (; count < lines.size(); ++count) {
        const CurveSeries& one = *lines[count];
        room -= numbers.horizontalAdvance(lastValueOf(one).value) + 6
            + names.horizontalAdvance(partName(one.row.key.name)) + 5 + kSwatch + 14;
        if (room < 0)
            break;
    }
    if (count < lines.size())
        words.put(moreText(lines.size() - count), wordsFont(11), theme.text3, 14);
    while (count-- > 0) {
        const CurveSeries& one = *lines[count];
        const LastValue last = lastValueOf(one);
        words.put(last.value, numberFont(12), last.critical ? theme.criticalText : theme.text, 6);
        words.put(partName(one.row.key.name), wordsFont(11), theme.text2, 5);
        words.putSwatch(one, theme);
    }
}

}

bool isSmoothable(const CurveSeries& one)
{
    const QString& name = one.row.key.name;
    return name != QLatin1String("lr") && !name.contains(QLatin1String("learning"), Qt::CaseInsensitive)
        && !name.endsWith(QLatin1String("/lr")) && !name.endsWith(QLatin1String(".lr"));
}

std::vector<const CurveSeries*> ownLines(const CurvePicture& picture)
{
    std::vector<const CurveSeries*> own;
    for (const CurveSeries& one : picture.series) {
        if (!one.isGroup && !one.isOtherRank && !one.isOtherRun)
            own.push_back(&one);
    }
    return own;
}

LastValue lastValueOf(const CurveSeries& one)
{
    LastValue last;
    const auto newest = std::find_if(one.result.buckets.rbegin(), one.result.buckets.rend(),
        [](const series::Bucket& bucket) { return bucket.state >= CellState::Value; });
    const CellState state = newest == one.result.buckets.rend() ? CellState::NotCollected : newest->state;
    last.critical = series::isNonFinite(state);
    last.value = state == CellState::Value ? formatValue(newest->last) : glyphs::word(state);
    if (one.lastFinite)
        last.before = QCoreApplication::translate("Overview", "last finite %1 at %2")
                          .arg(formatValue(one.lastFinite->second), formatStep(one.lastFinite->first.value));
    return last;
}

double panelCaptionLeft(const std::vector<ScalarPanel>& panels, const QRect& plot)
{
    double widest = 0;
    for (const ScalarPanel& panel : panels)
        widest = std::max(widest, QFontMetricsF(wordsFont(12, 600)).horizontalAdvance(panel.title));
    return widest <= kTitleRoom ? plot.left()
                                : std::min(kTitleLeft + widest + 14, plot.left() + plot.width() * kMostTitle);
}

void paintPanelHeader(
    QPainter& painter, const QRect& plot, const ScalarPanel& panel, double smoothing, double captionLeft)
{
    const Theme& theme = Theme::current();
    const CurveSeries& first = panel.picture.series.front();
    const QRectF line(plot.left(), plot.top() - kPanelHeader + 2, plot.width(), 18);

    HeaderWords words(painter, line);
    if (panel.isShared)
        paintLines(words, panel, captionLeft);
    else
        paintRanks(words, panel.picture, captionLeft);

    painter.setFont(wordsFont(12, 600));
    painter.setPen(theme.text);
    // Beside the plot's numbers, or all from one edge where one of them goes on above the plot.
    const bool isBeside = captionLeft <= plot.left();
    const double width = isBeside ? kTitleRoom : std::min(captionLeft, words.right()) - 12 - kTitleLeft;
    painter.drawText(QRectF(isBeside ? 4 : kTitleLeft, line.top(), width, line.height()),
        (isBeside ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(panel.title, Qt::ElideLeft, static_cast<int>(width)));
    if (smoothing <= 0)
        return;
    const QString how = isSmoothable(first)
        ? QCoreApplication::translate("telltale::views::OverviewCanvas", "smoothed %1, raw behind")
              .arg(formatValue(smoothing, smoothing > 0.9 ? 2 : 1))
        : QCoreApplication::translate("telltale::views::OverviewCanvas", "not smoothed");
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    const double taken = QFontMetricsF(painter.font()).horizontalAdvance(how) + 3;
    if (captionLeft + taken < words.right() - 10)
        painter.drawText(QRectF(captionLeft, line.top(), taken, line.height()), Qt::AlignLeft | Qt::AlignVCenter, how);
}

}
