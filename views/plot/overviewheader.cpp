// SPDX-License-Identifier: GPL-3.0-or-later
#include "overviewheader.h"

#include <algorithm>

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/labels.h>
#include <telltale/common/seriesstyle.h>
#include <telltale/common/sharedaxis.h>
#include <telltale/common/theme.h>
#include <telltale/items/comma.h>

#include "curvequery.h"

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

QString beforeText(const CurveSeries& one)
{
    return QCoreApplication::translate("Overview", "last finite %1 at %2")
        .arg(formatValue(one.lastFinite->second), formatStep(one.lastFinite->first.value));
}

QString allText(int count)
{
    return QCoreApplication::translate("telltale::views::OverviewCanvas", "on all %n ranks", nullptr, count);
}

QString atText(const QString& step)
{
    return QCoreApplication::translate("telltale::views::OverviewCanvas", "at %1", "a step").arg(step);
}

QString joined(const QString& where, const QString& at)
{
    return where.isEmpty() || at.isEmpty() ? where + at : where + items::comma() + at;
}

/// A number alone does not say what is numbered: with what stands before it, it is a part of the title.
QString partText(const QString& name)
{
    const QString part = partName(name);
    return part.front().isDigit() ? QLatin1Char('/') + part : part;
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

/// All of them are ranks of one run and have the same.
bool areAlike(const CurvePicture& scalar, const ValueOf& valueOf)
{
    const LastValue first = valueOf(scalar.series.front());
    return scalar.series.size() > 1
        && std::all_of(scalar.series.begin(), scalar.series.end(), [&](const CurveSeries& one) {
               const LastValue last = valueOf(one);
               return !one.isGroup && !one.isOtherRun && last.value == first.value && last.at == first.at;
           });
}

void putValue(HeaderWords& words, const LastValue& last, int weight, const Theme& theme)
{
    words.put(last.value, numberFont(12, weight), last.critical ? theme.criticalText : theme.text, 6);
}

/// What all ranks have; the last finite value is the chosen one's.
void paintAll(HeaderWords& words, const CurvePicture& scalar, const ValueOf& valueOf, double left)
{
    const Theme& theme = Theme::current();
    const LastValue last = valueOf(scalar.series.front());
    putValue(words, last, 600, theme);
    words.put(joined(allText(static_cast<int>(scalar.series.size())), last.at), wordsFont(11), theme.text3, 16);
    const QString where = rankText(scalar.series.front());
    const QFontMetricsF names(wordsFont(11));
    if (last.before.isEmpty()
        || words.right() - left < names.horizontalAdvance(last.before) + names.horizontalAdvance(where) + 6)
        return;
    words.put(last.before, wordsFont(11), theme.text2, 6);
    words.put(where, wordsFont(11), theme.text3, 16);
}

/// A value in the line above a plot, and what it is of.
struct HeaderEntry {
    const CurveSeries* one;
    QString where;
    LastValue last;
};

/// Of many runs one line each; their ranks are said where they could be others.
std::vector<HeaderEntry> entriesOf(const CurvePicture& scalar, const ValueOf& valueOf)
{
    const std::vector<CurveSeries>& all = scalar.series;
    const CurveSeries& first = all.front();
    const bool isByRun = std::any_of(all.begin(), all.end(), [](const CurveSeries& one) { return one.hasRunColor; });
    const bool hasRanks = std::any_of(all.begin(), all.end(),
        [&](const CurveSeries& one) { return one.isOtherRank || one.isGroup || one.row.rank != first.row.rank; });
    std::vector<HeaderEntry> entries;
    for (const CurveSeries& one : all) {
        if (isByRun && (one.isOtherRank || one.isGroup))
            continue;
        const QString where = isByRun && !hasRanks ? one.runName : whereText(one);
        const LastValue last = one.isGroup ? LastValue() : valueOf(one);
        entries.push_back({ &one, joined(one.isGroup || all.size() > 1 ? where : QString(), last.at), last });
    }
    return entries;
}

/// The values by rank or run, the selected rank's in the strongest weight; of the others as many as there is room for
/// beside the title.
void paintRanks(HeaderWords& words, const CurvePicture& scalar, const ValueOf& valueOf, double left)
{
    if (areAlike(scalar, valueOf) && !scalar.series.front().hasRankColor)
        return paintAll(words, scalar, valueOf, left);
    const Theme& theme = Theme::current();
    std::vector<HeaderEntry> entries = entriesOf(scalar, valueOf);
    const CurveSeries* const first = entries.front().one;
    const bool isByRun = first->hasRunColor;
    const QFontMetricsF names(wordsFont(11)), numbers(numberFont(12, 600));
    const bool hasSamples = isByRun || first->hasRankColor;
    const double sample = hasSamples ? kSwatch + 5 : 0;
    const auto widthOf = [&](const HeaderEntry& entry) {
        return numbers.horizontalAdvance(entry.last.value) + 6 + names.horizontalAdvance(entry.where) + 16 + sample;
    };
    const double whole = words.right() - left;
    double total = 0;
    double taken = 0; ///< by the names alone
    for (const HeaderEntry& entry : entries) {
        total += widthOf(entry);
        taken += names.horizontalAdvance(entry.where);
    }
    // A color whose rank is not named says nothing: behind the first, its number is enough.
    if (first->hasRankColor && total > whole) {
        const auto lowest
            = std::ranges::min_element(entries, {}, [](const HeaderEntry& entry) { return entry.one->row.rank; });
        const CurveSeries* const one = lowest->one;
        for (HeaderEntry& entry : entries) {
            if (entry.one != one)
                entry.where = joined(QString::number(entry.one->row.rank.value), entry.last.at);
        }
    }
    // Nor does one whose run is not named.
    if (constexpr double kLeastName = 48; isByRun && total > whole) {
        std::vector<QString> texts;
        texts.reserve(entries.size());
        for (const HeaderEntry& entry : entries)
            texts.push_back(entry.where);
        const double each = (whole - total + taken) / static_cast<double>(entries.size());
        texts = fitLabels(texts, names, std::max(each, kLeastName));
        for (std::size_t i = 0; i < entries.size(); ++i)
            entries[i].where = texts[i];
    }
    double room = whole - widthOf(entries.front());
    const double before = names.horizontalAdvance(entries.front().last.before) + 8;
    const bool saysBefore = !entries.front().last.before.isEmpty() && room > before;
    room -= saysBefore ? before : 0;
    std::size_t shown = 1;
    const std::size_t most = hasSamples ? entries.size() : std::min(entries.size(), kMostHeaderRanks);
    for (double rest = room; shown < most; ++shown) {
        rest -= widthOf(entries[shown]);
        const bool isLast = shown + 1 == entries.size();
        if (rest < (isLast ? 0 : names.horizontalAdvance(moreText(entries.size()))))
            break;
    }
    const std::size_t more = entries.size() - shown;
    entries.resize(shown);
    // With one rank chosen or not, the ranks stand in one order.
    const auto place
        = [](const HeaderEntry& entry) { return std::pair(entry.one->isGroup, entry.one->row.rank.value); };
    if (std::none_of(entries.begin(), entries.end(), [](const HeaderEntry& entry) { return entry.one->isOtherRun; }))
        std::stable_sort(
            entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    if (more > 0) // behind those that it goes on from
        words.put(moreText(more), wordsFont(11), theme.text3, 16);
    for (std::size_t i = shown; i-- > 0;) {
        const HeaderEntry& entry = entries[i];
        const bool isFirst = entry.one == first;
        if (!entry.one->isGroup)
            putValue(words, entry.last, isFirst ? 600 : 400, theme);
        if (isFirst && saysBefore)
            words.put(entry.last.before, wordsFont(11), theme.text2, 8);
        if (!entry.where.isEmpty())
            words.put(entry.where, wordsFont(11), theme.text3, hasSamples ? 5 : 16);
        if (hasSamples)
            words.putSwatch(*entry.one, theme);
    }
}

/// The lines of a shared plot with their values, as many as there is room for beside the title, behind the rank that
/// all of them are of.
void paintLines(HeaderWords& words, const ScalarPanel& panel, const ValueOf& valueOf, double left)
{
    const Theme& theme = Theme::current();
    const std::vector<const CurveSeries*> lines = ownLines(panel.picture);
    const QFontMetricsF names(wordsFont(11)), numbers(numberFont(12));
    const QString where
        = lines.size() < panel.picture.series.size() && !lines.empty() ? whereText(*lines.front()) : QString();
    double room = words.right() - left - names.horizontalAdvance(moreText(lines.size())) - 16
        - names.horizontalAdvance(where) - 16;
    std::size_t count = 0;
    for (; count < lines.size(); ++count) {
        const CurveSeries& one = *lines[count];
        room -= numbers.horizontalAdvance(valueOf(one).value) + 6 + names.horizontalAdvance(partText(one.row.key.name))
            + 5 + kSwatch + 14;
        if (room < 0)
            break;
    }
    if (count < lines.size())
        words.put(moreText(lines.size() - count), wordsFont(11), theme.text3, 14);
    while (count-- > 0) {
        const CurveSeries& one = *lines[count];
        putValue(words, valueOf(one), 400, theme);
        words.put(partText(one.row.key.name), wordsFont(11), theme.text2, 5);
        words.putSwatch(one, theme);
    }
    if (!where.isEmpty())
        words.put(where, wordsFont(11), theme.text3, 16);
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
        last.before = beforeText(one);
    return last;
}

bool isSystemMetric(const CurveSeries& one)
{
    return one.row.key.name.startsWith(kSystemGroup);
}

int heldBucket(const CurveSeries& one, Step step)
{
    const int here = bucketOf(one.result, step);
    if (!isSystemMetric(one))
        return here;
    for (int bucket = here; bucket >= 0; --bucket) {
        if (one.result.buckets[static_cast<std::size_t>(bucket)].state >= CellState::Value)
            return bucket;
    }
    return here;
}

LastValue valueAt(const CurveSeries& one, Step step, const LegendValue* exact)
{
    LastValue value;
    CellState state = CellState::NotCollected;
    double number = 0;
    if (exact && exact->isExact) {
        state = exact->state;
        number = exact->value;
    } else if (const int bucket = heldBucket(one, step); bucket >= 0) {
        state = one.result.buckets[static_cast<std::size_t>(bucket)].state;
        number = one.result.buckets[static_cast<std::size_t>(bucket)].last;
        if (const StepRange of = stepsOf(one.result, bucket); bucket != bucketOf(one.result, step))
            value.at = atText(of.count() <= 1 ? formatStep(of.first.value)
                                              : formatStep(of.first.value) + QChar(0x2013) + formatStep(of.last.value));
    }
    value.critical = series::isNonFinite(state);
    // A dash where nothing was measured, so that an old value is never taken for this one.
    value.value = state == CellState::Value ? formatValue(number)
        : value.critical                    ? glyphs::word(state)
                                            : QString(QChar(0x2013));
    if (value.critical && one.lastFinite && one.lastFinite->first < step)
        value.before = beforeText(one);
    return value;
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
    QPainter& painter, const QRect& plot, const ScalarPanel& panel, const HeaderLook& look, double captionLeft)
{
    const Theme& theme = Theme::current();
    const CurveSeries& first = panel.picture.series.front();
    const QRectF line(plot.left(), plot.top() - kPanelHeader + 2, plot.width(), 18);

    HeaderWords words(painter, line);
    // Every line keeps the step, that of its first value: of the ranks and what was before, less is said.
    const QString asked = look.step ? atText(formatStep(look.step->value)) : QString();
    const QString at = look.valueOf(first).at;
    const QString when = at.isEmpty() ? asked : at;
    const ValueOf valueOf = [&](const CurveSeries& one) {
        LastValue value = look.valueOf(one);
        value.at = value.at == at ? QString() : value.at.isEmpty() ? asked : value.at;
        return value;
    };
    const double left = captionLeft + (look.step ? QFontMetricsF(wordsFont(11)).horizontalAdvance(when) + 16 : 0);
    if (panel.isShared)
        paintLines(words, panel, valueOf, left);
    else
        paintRanks(words, panel.picture, valueOf, left);
    if (look.step && captionLeft + QFontMetricsF(wordsFont(11)).horizontalAdvance(when) < words.right())
        words.put(when, wordsFont(11), theme.text3, 16);

    painter.setFont(wordsFont(12, 600));
    painter.setPen(theme.text);
    // Beside the plot's numbers, or all from one edge where one of them goes on above the plot.
    const bool isBeside = captionLeft <= plot.left();
    const double width = isBeside ? kTitleRoom : std::min(captionLeft, words.right()) - 12 - kTitleLeft;
    painter.drawText(QRectF(isBeside ? 4 : kTitleLeft, line.top(), width, line.height()),
        (isBeside ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(panel.title, Qt::ElideLeft, static_cast<int>(width)));
    if (look.smoothing <= 0)
        return;
    const QString how = isSmoothable(first)
        ? QCoreApplication::translate("telltale::views::OverviewCanvas", "smoothed %1, raw behind")
              .arg(formatValue(look.smoothing, look.smoothing > 0.9 ? 2 : 1))
        : QCoreApplication::translate("telltale::views::OverviewCanvas", "not smoothed");
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    const double taken = QFontMetricsF(painter.font()).horizontalAdvance(how) + 3;
    if (captionLeft + taken < words.right() - 10)
        painter.drawText(QRectF(captionLeft, line.top(), taken, line.height()), Qt::AlignLeft | Qt::AlignVCenter, how);
}

}
