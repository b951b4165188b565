// SPDX-License-Identifier: GPL-3.0-or-later
#include "overviewheader.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
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
constexpr double kNameGap = 6; ///< of a value from its name, and of that from the sample
constexpr double kEntryGap = 14;
constexpr double kBeforeValues = 10; ///< behind what says how the axis is read
constexpr std::size_t kMostUncolored = 4; ///< ranks whose values say no line's color
constexpr double kLeastName = 48; ///< of a run: one that is not named says nothing
constexpr double kTitleLeft = 12; ///< where one is wider than the gutter
constexpr double kTitleInset = 12; ///< of what is cut from the captions
constexpr double kTitleRoom = SharedAxis::kGutter - 12; ///< beside the plot's numbers
constexpr double kMostTitle = 0.4; ///< of a plot's width

QString moreText(std::size_t count)
{
    return QCoreApplication::translate("telltale::views::OverviewCanvas", "%1 more").arg(count);
}

QString beforeText(const CurveSeries& one)
{
    return QCoreApplication::translate("Overview", "last finite %1 at %2")
        .arg(statValueText(one.stat, one.lastFinite->second), formatStep(one.lastFinite->first.value));
}

QString joined(const QString& what, const QString& more)
{
    return what.isEmpty() || more.isEmpty() ? what + more : what + items::comma() + more;
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
        , m_begin(line.right())
    {
    }
    void put(const QString& text, const QFont& font, const QColor& color, double gap)
    {
        m_painter.setFont(font);
        m_painter.setPen(color);
        const double width = QFontMetricsF(font).horizontalAdvance(text);
        m_painter.drawText(QRectF(m_right - width - 1, m_line.top(), width + 2, m_line.height()),
            Qt::AlignRight | Qt::AlignVCenter, text);
        m_begin = m_right - width;
        m_right = m_begin - gap;
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
        m_begin = m_right - kSwatch;
        m_right = m_begin - kEntryGap;
    }
    double right() const { return m_right; } ///< where the next may end
    double begin() const { return m_begin; } ///< of the last one

private:
    QPainter& m_painter;
    QRectF m_line;
    double m_right;
    double m_begin;
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

/// px of the widest of some texts in `room`, where short ones leave theirs to the others.
double mostOf(std::vector<double> widths, double room)
{
    std::ranges::sort(widths);
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const double each = room / static_cast<double>(widths.size() - i);
        if (widths[i] > each)
            return each;
        room -= widths[i];
    }
    return widths.back();
}

/// A value in the line above a plot, and what it is of.
struct HeaderEntry {
    const CurveSeries* one;
    QString name;
    QString brief; ///< in place of it, where not all have room
    QString least; ///< and where not even these have
    LastValue last;
};

/// What that line says, the chosen rank's value first.
struct Header {
    std::vector<HeaderEntry> entries;
    QString of; ///< what all of them are of
    QString briefOf; ///< in place of it, where names are brief
    QString older; ///< "at 195": what all of them are of, where other panels have newer values
    bool hasSamples = true;

    double width() const
    {
        const QFontMetricsF names(wordsFont(11)), numbers(numberFont(12, 600));
        double width = 0;
        for (const HeaderEntry& entry : entries) {
            const double name = entry.name.isEmpty() ? 0 : names.horizontalAdvance(entry.name) + kNameGap;
            width += name + numbers.horizontalAdvance(entry.last.value) + kEntryGap
                + (hasSamples ? kSwatch + kNameGap : 0);
        }
        return width;
    }
    /// "at 309–312": once, whatever steps the samples of its ranks and runs are of; empty where none was asked for and
    /// they are all of the last one.
    QString steps(std::optional<Step> asked) const
    {
        const StepRange own = asked ? StepRange { *asked, *asked } : StepRange();
        StepRange all;
        for (const HeaderEntry& entry : entries) {
            const StepRange at = entry.last.at.isEmpty() ? own : entry.last.at;
            if (entry.one->isGroup || entry.last.isNone || at.isEmpty())
                continue;
            all = all.isEmpty() ? at : StepRange { std::min(all.first, at.first), std::max(all.last, at.last) };
        }
        all = all.isEmpty() ? own : all;
        return all.isEmpty() ? older : stepsText(all);
    }
    /// What stands behind a name goes before anything of the name.
    void shorten(double room)
    {
        const QFontMetricsF metrics(wordsFont(11));
        std::vector<QString> names;
        std::vector<double> widths;
        for (HeaderEntry& entry : entries) {
            names.push_back(entry.name = entry.brief);
            widths.push_back(metrics.horizontalAdvance(entry.brief));
        }
        if (width() <= room)
            return;
        if (!entries.front().one->hasRunColor) {
            for (HeaderEntry& entry : entries)
                entry.name = entry.least;
            return;
        }
        names = fitLabels(names, metrics,
            std::max(mostOf(widths, room - width() + std::accumulate(widths.begin(), widths.end(), 0.0)), kLeastName));
        for (std::size_t i = 0; i < names.size(); ++i)
            entries[i].name = names[i];
        // A name that is cut between its parts leaves room, which may do for a whole one.
        for (HeaderEntry& entry : entries) {
            const QString shortened = std::exchange(entry.name, entry.brief);
            if (width() > room)
                entry.name = shortened;
        }
    }
};

/// Of the newest sample.
StepRange lastSteps(const CurveSeries& one)
{
    const int newest = newestBucketOf(one.result);
    return newest < 0 ? StepRange() : stepsOf(one.result, newest);
}

/// Last values of runs that ended at other steps say theirs.
void addLastSteps(std::vector<HeaderEntry>& entries)
{
    std::vector<StepRange> last;
    last.reserve(entries.size());
    for (const HeaderEntry& entry : entries)
        last.push_back(lastSteps(*entry.one));
    if (std::ranges::adjacent_find(last, std::ranges::not_equal_to()) == last.end())
        return;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        entries[i].last.at = last[i];
        if (!last[i].isEmpty())
            entries[i].name = joined(entries[i].name, stepsText(last[i]));
    }
}

/// Of ranks that ended at other steps those say theirs whose last value is not of the newest one.
void addEarlierSteps(std::vector<HeaderEntry>& entries)
{
    std::optional<Step> newest;
    for (const HeaderEntry& entry : entries)
        newest = std::max(newest, entry.one->newest);
    for (HeaderEntry& entry : entries) {
        if (!entry.one->newest || entry.one->newest == newest)
            continue;
        const QString at = stepsText({ *entry.one->newest, *entry.one->newest });
        entry.name = joined(entry.name, at);
        entry.brief = joined(entry.brief, at);
        entry.least = joined(entry.least, at);
    }
}

/// Of numbered parts the chosen rank's; of many runs one line each, whose ranks are said where they could be others.
Header headerOf(const ScalarPanel& panel, const ValueOf& valueOf, bool isOfOneStep)
{
    const std::vector<CurveSeries>& all = panel.picture.series;
    const CurveSeries& first = all.front();
    Header header;
    const auto add = [&](const CurveSeries& one, const QString& name) {
        const LastValue last = one.isGroup ? LastValue() : valueOf(one);
        const bool saysBefore = &one == &first && !panel.isShared;
        header.entries.push_back({ &one, saysBefore ? joined(name, last.before) : name,
            one.hasRankColor ? QString::number(one.row.rank.value) : name, one.hasRankColor ? QString() : name, last });
    };
    if (panel.isShared) {
        for (const CurveSeries* one : ownLines(panel.picture))
            add(*one, partText(one->row.key.name));
        if (!header.entries.empty() && header.entries.size() < all.size())
            header.of = whereText(first);
        return header;
    }
    header.hasSamples = first.hasRunColor || first.hasRankColor;
    if (!first.hasRankColor && areAlike(panel.picture, valueOf)) {
        header.hasSamples = false;
        QString ranks = allRanksText(static_cast<int>(all.size()));
        if (!isOfOneStep && std::ranges::any_of(all, [](const CurveSeries& one) { return one.newest.has_value(); }))
            ranks = joined(
                ranks, QCoreApplication::translate("telltale::views::OverviewCanvas", "each at its last step"));
        add(first, ranks);
        if (const QString before = header.entries.front().last.before; !before.isEmpty())
            header.entries.front().name = joined(rankText(first) + u' ' + before, ranks);
        return header;
    }
    const bool hasRanks = std::ranges::any_of(
        all, [&](const auto& one) { return one.isOtherRank || one.isGroup || one.row.rank != first.row.rank; });
    for (const CurveSeries& one : all) {
        if (!first.hasRunColor || (!one.isOtherRank && !one.isGroup))
            add(one, all.size() == 1 ? QString() : first.hasRunColor && !hasRanks ? one.runName : whereText(one));
    }
    const auto isOfFirstRank = [&](const HeaderEntry& entry) { return rankText(*entry.one) == rankText(first); };
    if (first.hasRunColor && hasRanks && std::ranges::all_of(header.entries, isOfFirstRank)) {
        header.briefOf = rankText(first);
        for (HeaderEntry& entry : header.entries)
            entry.brief = entry.least = entry.one->runName;
    }
    if (!isOfOneStep)
        first.hasRunColor ? addLastSteps(header.entries) : addEarlierSteps(header.entries);
    return header;
}

/// Where a scalar is collected less often than others, or ended before them, what its last values are of. What
/// processes use is sampled now and then, and in a live run what is of every step comes in its own time.
QString olderText(const ScalarPanel& panel, const HeaderLook& look)
{
    constexpr std::size_t kOfEveryStep = 2; // a line's longest part then
    const CurveSeries& first = panel.picture.series.front();
    const StepRange own = newestSteps(panel.picture);
    const bool isComing = look.isLive && first.longestLine() <= kOfEveryStep;
    return own.isEmpty() || isComing || isSystemMetric(first) || own.last >= look.newest.last ? QString()
                                                                                              : stepsText(own);
}

/// As many values as there is room for beside the title; the selected rank's is in the strongest weight.
void paintValues(HeaderWords& words, const ScalarPanel& panel, const HeaderLook& look, double left)
{
    const Theme& theme = Theme::current();
    const QFontMetricsF metrics(wordsFont(11));
    Header header = headerOf(panel, look.valueOf, look.step.has_value());
    std::vector<HeaderEntry>& entries = header.entries;
    if (entries.empty())
        return;
    if (!look.step && header.steps({}).isEmpty())
        header.older = olderText(panel, look);
    const std::size_t count = entries.size();
    const double more = metrics.horizontalAdvance(moreText(count)) + kEntryGap;
    if (!header.hasSamples && count > kMostUncolored)
        entries.resize(kMostUncolored);
    const auto rest = [&] { return entries.size() < count ? more : 0; };
    const CurveSeries* const chosen = panel.isShared ? nullptr : entries.front().one;
    // Beside a smoothed line its values are those of the line behind it.
    const QString raw = look.smoothing > 0 && isSmoothable(panel.picture.series.front())
        ? QCoreApplication::translate("telltale::views::OverviewCanvas", "raw")
        : QString();
    const auto steps = [&] { return joined(raw, header.steps(look.step)); };
    QString when = look.step ? steps() : joined(raw, header.older);
    const auto roomBeside = [&] {
        return words.right() - left - (when.isEmpty() ? 0 : metrics.horizontalAdvance(when) + kEntryGap)
            - (header.of.isEmpty() ? 0 : metrics.horizontalAdvance(header.of) + kEntryGap);
    };
    double room = roomBeside();
    const bool isBrief = header.width() + rest() > room;
    if (isBrief) {
        when = steps();
        room = roomBeside();
        header.shorten(room);
        header.of = header.briefOf.isEmpty() ? header.of : header.briefOf;
    }
    if (header.width() + rest() <= words.right() - left)
        room = words.right() - left; // a value goes before the step that it is of
    while (entries.size() > 1 && header.width() + rest() > room) {
        entries.pop_back();
        header.shorten(room - rest());
    }
    if (look.step || isBrief)
        when = steps();
    // With one rank chosen or not, the ranks stand in one order.
    const auto place = [](const HeaderEntry& entry) { return std::pair(entry.one->isGroup, entry.one->row.rank); };
    if (!panel.isShared && std::ranges::none_of(entries, [](const auto& entry) { return entry.one->isOtherRun; }))
        std::ranges::stable_sort(entries, {}, place);
    if (isBrief && entries.front().one->hasRankColor
        && entries.front().name == entries.front().least) { // named together, in whose order their colors are
        CurveSeries together;
        together.isGroup = true;
        for (const HeaderEntry& entry : entries)
            together.ranks.push_back(entry.one->row.rank);
        header.of = rankText(together);
    }
    if (entries.size() < count) // behind those that it goes on from
        words.put(moreText(count - entries.size()), wordsFont(11), theme.text3, kEntryGap);
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        words.put(entry->last.value, numberFont(12, entry->one == chosen ? 600 : 400),
            entry->last.critical ? theme.criticalText : theme.text, kNameGap);
        if (!entry->name.isEmpty())
            words.put(entry->name, wordsFont(11), theme.text3, header.hasSamples ? kNameGap : kEntryGap);
        if (header.hasSamples)
            words.putSwatch(*entry->one, theme);
    }
    for (const QString& text : { joined(header.of, when), header.briefOf.isEmpty() ? header.of : QString(), when }) {
        if (text.isEmpty() || left + metrics.horizontalAdvance(text) > words.right())
            continue;
        words.put(text, wordsFont(11), theme.text3, kEntryGap);
        break;
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

StepRange newestSteps(const CurvePicture& picture)
{
    StepRange newest;
    for (const CurveSeries& one : picture.series) {
        const StepRange last
            = one.newestOfAll ? StepRange { one.newestOfAll->step, one.newestOfAll->step } : lastSteps(one);
        if (!one.isGroup && !last.isEmpty() && (newest.isEmpty() || newest.last < last.last))
            newest = last;
    }
    return newest;
}

QString allRanksText(int count)
{
    return count == 2
        ? QCoreApplication::translate("telltale::views::OverviewCanvas", "on both ranks")
        : QCoreApplication::translate("telltale::views::OverviewCanvas", "on all %n ranks", nullptr, count);
}

LastValue lastValueOf(const CurveSeries& one)
{
    LastValue last;
    const int newest = newestBucketOf(one.result);
    const series::Bucket own = newest < 0 ? series::Bucket() : one.result.buckets[static_cast<std::size_t>(newest)];
    const CellState state = one.newestOfAll ? one.newestOfAll->state : own.state;
    last.critical = series::isNonFinite(state);
    last.value = state == CellState::Value
        ? statValueText(one.stat, one.newestOfAll ? one.newestOfAll->value : own.last)
        : glyphs::word(state);
    if (one.lastFinite && (!one.newestOfAll || last.critical))
        last.before = beforeText(one);
    if (one.hasLateRank)
        last.at = { one.newestOfAll->step, one.newestOfAll->step };
    return last;
}

bool isSystemMetric(const CurveSeries& one)
{
    return one.row.key.name.startsWith(kSystemGroup);
}

int heldBucket(const CurveSeries& one, Step step)
{
    const int here = lineBucketOf(one, step);
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
    const LegendValue found = exact && exact->isExact ? *exact : LegendValue::of(one, heldBucket(one, step), step);
    LastValue value;
    value.at = found.at;
    value.critical = series::isNonFinite(found.state);
    value.isNone = found.state < CellState::Value;
    // A dash where nothing was measured; an old value says its step, so that it is never taken for this one.
    value.value = value.isNone ? QString(QChar(0x2013))
        : value.critical       ? glyphs::word(found.state)
                               : statValueText(one.stat, found.value);
    if (value.critical && one.lastFinite && one.lastFinite->first < step)
        value.before = beforeText(one);
    return value;
}

double panelCaptionLeft(const std::vector<ScalarPanel>& panels, const QRect& plot)
{
    double widest = 0;
    for (const ScalarPanel& panel : panels)
        widest = std::max(widest, QFontMetricsF(wordsFont(12, 600)).horizontalAdvance(panel.title));
    return widest <= kTitleRoom
        ? plot.left()
        : std::min(kTitleLeft + widest + kTitleInset + 2, plot.left() + plot.width() * kMostTitle);
}

std::vector<QString> panelTitles(const std::vector<ScalarPanel>& panels, const QRect& plot)
{
    const double captionLeft = panelCaptionLeft(panels, plot);
    std::vector<QString> titles;
    titles.reserve(panels.size());
    for (const ScalarPanel& panel : panels)
        titles.push_back(panel.title);
    return captionLeft <= plot.left()
        ? titles
        : fitLabels(titles, QFontMetricsF(wordsFont(12, 600)), captionLeft - kTitleInset - kTitleLeft);
}

void paintPanelHeader(
    QPainter& painter, const QRect& plot, const ScalarPanel& panel, const HeaderLook& look, double captionLeft)
{
    const Theme& theme = Theme::current();
    const CurveSeries& first = panel.picture.series.front();
    const QRectF line(plot.left(), plot.top() - kPanelHeader + 2, plot.width(), 18);

    HeaderWords words(painter, line);
    const QString log = QCoreApplication::translate("telltale::views::OverviewCanvas", "log");
    const auto widthOf = [](const QString& said) { return QFontMetricsF(wordsFont(11)).horizontalAdvance(said) + 3; };
    paintValues(words, panel, look, captionLeft + (look.isLog ? std::ceil(widthOf(log)) + kBeforeValues : 0));

    painter.setFont(wordsFont(12, 600));
    painter.setPen(theme.text);
    // Beside the plot's numbers, or all from one edge where one of them goes on above the plot.
    const bool isBeside = captionLeft <= plot.left();
    const double width = isBeside ? kTitleRoom : std::min(captionLeft, words.begin()) - kTitleInset - kTitleLeft;
    painter.drawText(QRectF(isBeside ? 4 : kTitleLeft, line.top(), width, line.height()),
        (isBeside ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(
            look.title.isEmpty() ? panel.title : look.title, Qt::ElideLeft, static_cast<int>(width)));
    QStringList drawn { QString() }; // how its line is, in ever fewer words
    if (look.smoothing > 0 && isSmoothable(first)) {
        const QString weight = formatValue(look.smoothing, look.smoothing > 0.9 ? 2 : 1);
        drawn = { QCoreApplication::translate("telltale::views::OverviewCanvas", "smoothed %1, raw behind").arg(weight),
            QCoreApplication::translate("telltale::views::OverviewCanvas", "smoothed %1").arg(weight), QString() };
    } else if (look.smoothing > 0) {
        drawn.prepend(QCoreApplication::translate("telltale::views::OverviewCanvas", "not smoothed"));
    }
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    for (const QString& one : drawn) { // how the axis is read comes before how the line is drawn
        const QString said = joined(one, look.isLog ? log : QString());
        const double taken = widthOf(said);
        if (captionLeft + taken > words.right() - kBeforeValues)
            continue;
        painter.drawText(QRectF(captionLeft, line.top(), taken, line.height()), Qt::AlignLeft | Qt::AlignVCenter, said);
        return;
    }
}

}
