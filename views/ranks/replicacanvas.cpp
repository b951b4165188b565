// SPDX-License-Identifier: GPL-3.0-or-later
#include "replicacanvas.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <telltale/common/axispainter.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/readout.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatimage.h>
#include <telltale/items/comma.h>
#include <telltale/items/shownname.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::views {

using analysis::Sameness;
using series::CellState;

namespace {

constexpr int kSentence = 18;
constexpr int kMostLines = 3; ///< of the first sentence
constexpr int kMostTensorLines = 3; ///< of the second
constexpr std::size_t kMostRanks = 8; ///< that it names
constexpr int kBelowWords = 6;
constexpr int kWordsInset = 12; ///< of the words, as of every caption above a face
constexpr int kSameness = 18;
constexpr int kBare = 4; ///< without checksums: a spread of zero is not under the axis
constexpr int kSpreadCaption = 20; ///< px of the words above the spread; nothing is drawn beside them
constexpr int kLeastSpreadHeight
    = kSpreadCaption + 32; ///< px; a lower plot has no room for its numbers and is left out
constexpr double kLeastSpread = 1e-9; ///< below it a float32 cannot differ
constexpr std::size_t kMostNamed = 3;

QString ranksText(const std::vector<Rank>& ranks)
{
    QStringList words;
    for (const Rank rank : ranks)
        words.append(QString::number(rank.value));
    return words.join(items::comma());
}

QString nameOf(const ModuleKey& key)
{
    return items::shownTensor(key.name, key.slot);
}

/// A font that stands in for another has higher lines: they are counted by its own.
int linesOf(const QString& text, const QFont& font, int width, int most)
{
    const QFontMetrics metrics(font);
    const QRect room(0, 0, width, QWIDGETSIZE_MAX);
    const int one = std::max(1, metrics.boundingRect(QRect(0, 0, QWIDGETSIZE_MAX, 0), 0, text).height());
    const double height = metrics.boundingRect(room, Qt::TextWordWrap, text).height();
    return std::clamp(static_cast<int>(std::lround(height / one)), 1, most);
}

}

ReplicaCanvas::ReplicaCanvas(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
}

void ReplicaCanvas::setPicture(std::shared_ptr<const ReplicaPicture> picture)
{
    m_picture = std::move(picture);
    invalidate();
}

void ReplicaCanvas::setEmptyText(const QString& text)
{
    m_emptyText = text;
    invalidate();
}

void ReplicaCanvas::setLeastGutter(int px)
{
    m_leastGutter = px;
    invalidate();
}

QRect ReplicaCanvas::plotRect(QSize size) const
{
    const int gutter = std::max(m_leastGutter, SharedAxis::kGutter);
    const int room = roomOfPlot(size) - (hasSteps(size) ? AxisPainter::kStepBand : 0);
    return { gutter, wordsHeight(size) + AxisPainter::kLane + 4, std::max(1, size.width() - gutter - HeatCanvas::kEdge),
        room < kLeastSpreadHeight ? std::clamp(room, 1, kBare) : room };
}

int ReplicaCanvas::roomOfPlot(QSize size) const
{
    return size.height() - wordsHeight(size) - AxisPainter::kLane - 4 - samenessHeight();
}

bool ReplicaCanvas::hasSteps(QSize size) const
{
    return roomOfPlot(size) > AxisPainter::kStepBand;
}

int ReplicaCanvas::samenessHeight() const
{
    return hasPlot() && m_picture->hasChecksums ? kSameness : kBare;
}

std::pair<int, int> ReplicaCanvas::linesOfWords(QSize size) const
{
    if (!hasPlot())
        return {};
    const int width = size.width() - 2 * kWordsInset;
    const int first = linesOf(sentence(false), wordsFont(12, 500), width, kMostLines);
    const int second = linesOf(tensorsSentence(), wordsFont(11), width, kMostTensorLines);
    const int others = AxisPainter::kLane + 4 + samenessHeight() + AxisPainter::kStepBand + kLeastSpreadHeight;
    const bool hasRoom = (first + second) * kSentence + kBelowWords + others <= size.height();
    return { first, hasRoom ? second : 1 };
}

int ReplicaCanvas::wordsHeight(QSize size) const
{
    const auto [first, second] = linesOfWords(size);
    return first == 0 ? 0 : (first + second) * kSentence + kBelowWords;
}

bool ReplicaCanvas::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return PlotCanvas::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const bool isAbove = help->y() < wordsHeight(size());
    const bool isFirst = help->y() < linesOfWords(size()).first * kSentence + 2;
    QToolTip::showText(
        help->globalPos(), isAbove ? items::toolTipText(isFirst ? sentence() : tensorsSentence()) : QString(), this);
    return true;
}

StepRange ReplicaCanvas::shownRange() const
{
    return hasPlot() ? m_picture->range : state().visibleRange();
}

void ReplicaCanvas::clickedAt(QPoint position, Qt::KeyboardModifiers modifiers)
{
    // The first step that differs is what one wants to see.
    if (hasPlot() && m_picture->drift.first && position.y() < wordsHeight(size()))
        state().goTo(*m_picture->drift.first);
    else
        PlotCanvas::clickedAt(position, modifiers);
}

QString ReplicaCanvas::sentence(bool isNamed) const
{
    const ReplicaPicture& picture = *m_picture;
    const QString name = nameOf(picture.key);
    if (picture.ranks.size() < 2)
        return tr("%1: no other rank holds the same part of the model as rank %2.").arg(name).arg(state().rank().value);
    const QString ranks = ranksText(picture.ranks);
    const auto count = static_cast<int>(picture.ranks.size());
    const QString on = isNamed              ? tr("%1 on ranks %2: ").arg(name, ranks)
        : picture.ranks.size() > kMostRanks ? tr("%n ranks: ", nullptr, count)
                                            : tr("Ranks %1: ").arg(ranks);
    if (!picture.hasChecksums)
        return on
            + (picture.haveOthersChecksums ? tr("no checksums of this kind.")
                                           : tr("no checksums (telltale.checksum is not true)."));
    if (picture.drift.first) {
        const auto odd = unlikeMost(picture.checksums);
        std::vector<Rank> others;
        others.reserve(odd.size());
        for (const std::size_t one : odd)
            others.push_back(picture.ranks[one]);
        QString text = on
            + (picture.drift.isEveryStep ? tr("the bits first differ at step %1")
                                         : tr("the bits are seen to differ from step %1 on"))
                  .arg(formatStep(picture.drift.first->value));
        if (!picture.isReplicated())
            text += tr("; each rank has its own values of this kind");
        else if (!others.empty())
            text += tr("; at the cursor rank %1 is not as most").arg(ranksText(others));
        return tr("%1.", "a sentence").arg(text);
    }
    const auto& steps = picture.drift.steps;
    if (std::ranges::find(steps, Sameness::Same, &analysis::SamenessAt::is) == steps.end())
        return on + tr("no step here has checksums of two of them.");
    std::set<Rank> without;
    for (const analysis::SamenessAt& one : steps)
        std::ranges::copy(picture.withoutAt(one), std::inserter(without, without.end()));
    if (!without.empty()) {
        const auto lacking = std::ranges::count_if(steps, [](const auto& one) { return !one.without.empty(); });
        return on
            + tr("bit for bit the same where they have checksums; at %1 of %2 steps %3.")
                  .arg(lacking)
                  .arg(steps.size())
                  .arg(withoutText({ without.begin(), without.end() }));
    }
    return on
        + (picture.drift.isEveryStep ? tr("bit for bit the same at every step shown.")
                                     : tr("bit for bit the same at all %n steps looked at.", nullptr,
                                         static_cast<int>(picture.drift.steps.size())));
}

QString ReplicaCanvas::withoutText(const std::vector<Rank>& ranks) const
{
    if (ranks.empty())
        return {};
    return ranks.size() > kMostRanks ? tr("nothing on %n ranks", nullptr, static_cast<int>(ranks.size()))
                                     : tr("nothing on rank %1").arg(ranksText(ranks));
}

QString ReplicaCanvas::tensorsSentence() const
{
    const auto& tensors = m_picture->tensors;
    const auto count = [&tensors](Sameness is) {
        return std::count_if(tensors.begin(), tensors.end(), [is](const ReplicaOf& one) { return one.is == is; });
    };
    const QString step = formatStep(m_picture->atStep.value);
    const QString at = m_picture->absent.empty()
        ? tr("At step %1, %2: ").arg(step, kindText(m_picture->kind))
        : tr("At step %1, %2 (%3): ").arg(step, kindText(m_picture->kind), withoutText(m_picture->absent));
    if (!m_picture->hasChecksums || count(Sameness::Unknown) == static_cast<std::ptrdiff_t>(tensors.size())) {
        const auto broken = static_cast<int>(std::ranges::count_if(tensors, &ReplicaOf::isNonFinite));
        const auto compared = static_cast<int>(
            std::ranges::count_if(tensors, [](const ReplicaOf& one) { return !std::isnan(one.spread); }));
        QStringList parts;
        if (broken > 0)
            parts.append(tr("%n tensors are not finite", nullptr, broken));
        if (compared > 0 && tensors.front().spread > 0)
            parts.append(tr("%1 is the furthest apart of %2 tensors (%3)")
                             .arg(nameOf(tensors.front().key))
                             .arg(compared)
                             .arg(formatFraction(tensors.front().spread)));
        else if (compared > 0)
            parts.append(tr("%n tensors without spread", nullptr, compared));
        else if (broken == 0)
            parts.append(tr("no two ranks have a value"));
        return at + parts.join(items::comma());
    }
    QString text
        = at + tr("%1 tensors are the same, %2 differ").arg(count(Sameness::Same)).arg(count(Sameness::Different));
    QStringList names;
    for (const ReplicaOf& one : tensors) {
        if (one.is == Sameness::Different && static_cast<std::size_t>(names.size()) < kMostNamed)
            names.append(
                one.odd.empty() ? nameOf(one.key) : tr("%1 on rank %2").arg(nameOf(one.key), ranksText(one.odd)));
    }
    if (!names.isEmpty())
        text = tr("%1: %2").arg(text, names.join(items::semicolon()));
    if (count(Sameness::Different) > static_cast<std::ptrdiff_t>(kMostNamed))
        text += items::semicolon() + QChar(0x2026);
    return text;
}

ValueScale ReplicaCanvas::scale() const
{
    double low = 1;
    double high = kLeastSpread;
    for (const float one : m_picture->spread) {
        if (one > 0) {
            low = std::min(low, static_cast<double>(one));
            high = std::max(high, static_cast<double>(one));
        }
    }
    if (high <= low)
        return { ValueScale::Mode::Log, kLeastSpread, 1 };
    return { ValueScale::Mode::Log, std::max(low / 2, kLeastSpread), high * 1.5 };
}

void ReplicaCanvas::paintFrame(QImage& frame, QSize size)
{
    const Theme& theme = Theme::current();
    QPainter painter(&frame);
    if (!hasPlot()) {
        paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), hasPicture() ? sentence() : m_emptyText, theme);
        return;
    }
    const QRect plot = plotRect(size);
    const int above = wordsHeight(size);
    paintWords(painter, size);
    paintSpread(painter, plot); // the marks of events stand over its own in the lane
    AxisPainter axis(painter, theme);
    const QRectF lane(plot.left(), above, plot.width(), AxisPainter::kLane);
    axis.laneCaption(lane, tr("events"));
    axis.events(plot, lane, shownRange(), state().eventMarks(), state().incidentMarks(),
        AxisPainter::nonFinite(m_picture->states));
    axis.incidents(plot, lane, shownRange(), state().incidentMarks());
    if (m_picture->hasChecksums)
        paintSameness(painter, plot);
}

void ReplicaCanvas::paintWords(QPainter& painter, QSize size) const
{
    const Theme& theme = Theme::current();
    const auto [first, second] = linesOfWords(size);
    const QRectF above(kWordsInset, 2, size.width() - 2 * kWordsInset, first * kSentence);
    painter.setFont(wordsFont(12, 500));
    painter.setPen(theme.text);
    painter.drawText(above, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, sentence(false));
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text2);
    const QRectF below(above.left(), above.bottom(), above.width(), second * kSentence);
    // Lines of words break where they must: a little is lost at the end of each but the last.
    const double room = below.width() * (second - 0.1 * (second - 1));
    painter.drawText(below, Qt::AlignLeft | Qt::AlignVCenter | (second > 1 ? Qt::TextWordWrap : Qt::TextSingleLine),
        painter.fontMetrics().elidedText(tensorsSentence(), Qt::ElideRight, static_cast<int>(room)));
}

void ReplicaCanvas::paintSpread(QPainter& painter, const QRect& whole) const
{
    const Theme& theme = Theme::current();
    const ReplicaPicture& picture = *m_picture;
    const ValueScale scale = this->scale();
    const bool hasLine = whole.height() >= kLeastSpreadHeight; // none whose numbers have no room
    const QRect plot = whole.adjusted(0, hasLine ? kSpreadCaption : 0, 0, 0);
    if (hasLine) {
        const bool hasZero = std::ranges::find(picture.spread, 0.0F) != picture.spread.end();
        // None of the numbers stands over the label of the checksums; that of zero is above the end of its axis.
        const int below = picture.hasChecksums && !hasZero ? 10 : 0;
        const double low = scale.valueAt(static_cast<double>(below) / plot.height());
        AxisPainter(painter, theme)
            .values(plot.adjusted(0, 0, 0, -below), ValueScale(scale.mode(), low, scale.high()), hasZero, true);
        painter.setPen(theme.text3);
        painter.setFont(wordsFont(11));
        const QRectF caption(whole.left() + 6, whole.top() + 2, whole.width() - 12, 16);
        QString words = tr("spread of the %1: (largest − smallest) / largest").arg(statText(picture.stat));
        if (QFontMetricsF(painter.font()).horizontalAdvance(words) > caption.width())
            words = tr("(largest − smallest) / largest");
        painter.drawText(caption, Qt::AlignLeft | Qt::AlignVCenter, words);
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    QPolygonF run;
    int last = 0; // column of its end
    bool isOfAll = true;
    const auto draw = [&] {
        // A spread of some of them alone is another quantity: the line of all does not go on to it.
        painter.setPen(isOfAll ? QPen(theme.series[0], 1.5) : QPen(theme.text3, 1.5, Qt::DotLine));
        if (run.size() == 1)
            painter.drawPoint(run.front());
        else
            painter.drawPolyline(run);
        run.clear();
    };
    for (int column = 0; column < picture.columns(); ++column) {
        const auto at = static_cast<std::size_t>(column);
        const double left = plot.left() + HeatImage::columnLeft(column, picture.columns(), plot.width());
        const double right = plot.left() + HeatImage::columnLeft(column + 1, picture.columns(), plot.width());
        if (series::isNonFinite(picture.states[at])) {
            const double middle = whole.top() - 3 - AxisPainter::kLane / 2.0;
            if (right - left >= 6)
                glyphs::paintSign(
                    painter, QPointF((left + right) / 2, middle), 8, picture.states[at], theme.criticalMark);
            else
                painter.fillRect(QRectF(left, middle - 3, std::max(1.0, right - left), 6), theme.criticalMark);
        }
        const double spread = static_cast<double>(picture.spread[at]);
        if (std::isnan(spread) || !hasLine) {
            if (picture.states[at] != CellState::NotCollected)
                draw();
            continue;
        }
        if (column - last > static_cast<int>(picture.join) || picture.without[at].empty() != isOfAll)
            draw();
        isOfAll = picture.without[at].empty();
        last = column;
        const double unit = spread > 0 ? std::clamp(scale.unitOf(spread), 0.0, 1.0) : 0;
        run.append(QPointF((left + right) / 2, plot.bottom() - unit * (plot.height() - 1)));
    }
    draw();
    painter.restore();
}

void ReplicaCanvas::paintSameness(QPainter& painter, const QRect& plot) const
{
    const Theme& theme = Theme::current();
    const QRectF lane(plot.left(), plot.bottom() + 3, plot.width(), kSameness - 5);
    // What is the same on some of them alone says nothing of the others: it has the sign of what is not collected.
    enum class Look { Same, Partly, Different };
    const auto& steps = m_picture->drift.steps;
    const auto lookOf = [](const analysis::SamenessAt& one) {
        return one.is == Sameness::Different ? Look::Different : !one.without.empty() ? Look::Partly : Look::Same;
    };
    const auto isAny = [&](Look look) { return std::ranges::find(steps, look, lookOf) != steps.end(); };
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    painter.drawText(QRectF(2, lane.top() - 2, plot.left() - 10, lane.height() + 4), Qt::AlignRight | Qt::AlignVCenter,
        isAny(Look::Different)  ? tr("checksums differ")
            : isAny(Look::Same) ? tr("checksums agree")
                                : tr("checksums"));
    const StepRange range = m_picture->range;
    const double half = static_cast<double>(plot.width()) / static_cast<double>(range.count()) / 2;
    const double join = static_cast<double>(m_picture->join) * plot.width() / m_picture->columns();
    // What differs is painted last and is tall: one step of it is seen among any number that are the same.
    for (const Look look : { Look::Same, Look::Partly, Look::Different }) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const analysis::SamenessAt& one = steps[i];
            if (lookOf(one) != look)
                continue;
            // Whole pixels: neighbors leave no gap that looks like a step without.
            const double x = std::floor(xOf(one.step, plot) - half);
            double end = xOf(one.step, plot) + half;
            if (look != Look::Different && i + 1 < steps.size() && lookOf(steps[i + 1]) == look)
                end = xOf(steps[i + 1].step, plot) - xOf(one.step, plot) <= join ? xOf(steps[i + 1].step, plot) : end;
            const double width = std::max(1.0, std::floor(end) - x);
            const QRectF whole(x, lane.top(), width, lane.height());
            if (look == Look::Same)
                painter.fillRect(QRectF(x, lane.center().y() - 1, width, 2), theme.ok);
            else
                painter.fillRect(whole,
                    look == Look::Partly            ? theme.base
                        : m_picture->isReplicated() ? theme.warnMark
                                                    : theme.text3);
            if (look == Look::Partly)
                glyphs::paintPattern(painter, whole, CellState::NotCollected, theme);
        }
    }
}

QString ReplicaCanvas::spreadText(int column) const
{
    const StepRange steps = m_picture->stepsOf(column);
    const auto at = static_cast<std::size_t>(column);
    const std::size_t count = m_picture->ranks.size();
    const auto& columnWithout = m_picture->without[at];
    std::set<Sameness> bits;
    std::set<Rank> without(columnWithout.begin(), columnWithout.end());
    for (const analysis::SamenessAt& one : m_picture->drift.steps) {
        if (!steps.contains(one.step))
            continue;
        bits.insert(one.is);
        std::ranges::copy(m_picture->withoutAt(one), std::inserter(without, without.end()));
    }
    QStringList parts;
    if (!std::isnan(m_picture->spread[at]) || bits.contains(Sameness::Different) || bits.contains(Sameness::Same))
        parts.append(columnWithout.empty()
                ? tr("spread")
                : tr("spread on %1 of %2 ranks").arg(count - columnWithout.size()).arg(count));
    if (bits.contains(Sameness::Different))
        parts.append(tr("the bits differ"));
    else if (bits.contains(Sameness::Same))
        parts.append(tr("the bits are the same"));
    if (const QString none = withoutText({ without.begin(), without.end() }); !none.isEmpty())
        parts.append(columnWithout.empty() && steps.count() > 1 ? tr("at some steps %1").arg(none) : none);
    return parts.join(items::comma());
}

void ReplicaCanvas::paintOverlay(QPainter& painter, QSize size)
{
    if (!hasPlot())
        return;
    const Theme& theme = Theme::current();
    const QRect plot = plotRect(size);
    AxisPainter axis(painter, theme);
    const StepMarks marks = StepMarks::of(state());
    // The step axis stands below the lane of bits.
    const QRect below = plot.adjusted(0, 0, 0, samenessHeight());
    // Not through the words above the spread.
    axis.cursorLines(
        below.adjusted(0, plot.height() >= kLeastSpreadHeight ? kSpreadCaption : 0, 0, 0), shownRange(), marks);
    if (hasSteps(size)) {
        axis.steps(below, shownRange(), tr("step"), marks);
        axis.cursorTags(below, shownRange(), marks);
    }
    if (!isStatic() && mouse() && below.contains(*mouse()))
        paintHover(painter, plot, size);
}

void ReplicaCanvas::paintHover(QPainter& painter, const QRect& plot, QSize size) const
{
    const int column
        = std::clamp((mouse()->x() - plot.left()) * m_picture->columns() / plot.width(), 0, m_picture->columns() - 1);
    const StepRange steps = m_picture->stepsOf(column);
    Readout readout;
    readout.name = nameOf(m_picture->key);
    readout.where = steps.count() <= 1
        ? tr("step %1").arg(formatStep(steps.first.value))
        : tr("steps %1 to %2").arg(formatStep(steps.first.value), formatStep(steps.last.value));
    readout.state = m_picture->states[static_cast<std::size_t>(column)];
    const double spread = static_cast<double>(m_picture->spread[static_cast<std::size_t>(column)]);
    readout.value = std::isnan(spread) ? glyphs::word(readout.state) : formatFraction(spread);
    readout.detail = spreadText(column);
    paintReadout(painter, QRectF(4, 4, size.width() - 8, size.height() - 8),
        QRectF(mouse()->x() - 2, mouse()->y() - 2, 4, 4), readout, Theme::current());
}

}
