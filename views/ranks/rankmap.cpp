// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankmap.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include <telltale/common/colormap.h>
#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/readout.h>
#include <telltale/heatmap/colorindex.h>
#include <telltale/heatmap/rankmark.h>
#include <telltale/items/comma.h>
#include <telltale/items/shownname.h>

namespace telltale::views {

using analysis::Parallel;
using analysis::RankOddness;
using series::CellState;

namespace {

/// Relative luminance, 0..1 (WCAG 2.2).
double luminanceOf(const QColor& color)
{
    const auto linear
        = [](double part) { return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

/// Dark or white words, whichever have more contrast on it.
QColor inkOn(const QColor& fill)
{
    const QColor dark(0x15, 0x17, 0x1A);
    const double own = luminanceOf(fill) + 0.05;
    return own / (luminanceOf(dark) + 0.05) > 1.05 / own ? dark : QColor(0xFF, 0xFF, 0xFF);
}

constexpr int kInset = 12;
constexpr int kMapTop = 12; ///< px above the map
constexpr int kSigns = 20; ///< px of a line that explains a sign
constexpr int kSignLine = 15; ///< px of each of its lines, if it has several
constexpr int kMostBareLines = 2; ///< of a sentence that explains no sign: with more it is said in a few words
constexpr int kLeastBesideBare = 60; ///< px of a map that leave room for these
constexpr int kWholeFrom = 150; ///< px of the height from which there is room for all of the words
constexpr double kMarked = 16; ///< px from which a cell has room for a sign beside its value
constexpr double kNumbered = 20; ///< px from which a cell says its rank
constexpr double kValued = 40; ///< px from which it has room for its value above that
constexpr int kMapFigures = 3; ///< of a value in a cell
constexpr int kLeastFigures = 2; ///< where more have no room
constexpr int kBesideValue = 8; ///< px of the cell

void outline(QPainter& painter, const QRectF& cell, int width, const Theme& theme)
{
    if (cell.isNull())
        return;
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    // Cased in base, so that the line is seen on dark and bright cells alike.
    // A small cell is not covered by it.
    const double out = cell.width() < 12 ? width / 2.0 + 1.5 : 1.5;
    const QRectF box = cell.adjusted(-out, -out, out - 1, out - 1);
    painter.setPen(QPen(theme.base, width + 2));
    painter.drawRect(box);
    painter.setPen(QPen(theme.text, width));
    painter.drawRect(box);
}

}

RankMap::RankMap(ViewState* state, QWidget* parent)
    : PlotCanvas(state, parent)
{
    connect(state, &ViewState::rankChanged, this, [this] { update(); });
}

void RankMap::setPicture(std::shared_ptr<const RankMapPicture> picture)
{
    m_picture = std::move(picture);
    m_explanations = {};
    invalidate();
}

void RankMap::setExplained(std::vector<series::CellState> states)
{
    if (states == m_explained)
        return;
    m_explained = std::move(states);
    invalidate();
}

QRect RankMap::plotRect(QSize size) const
{
    int signs = 0;
    for (const Explained& one : explanations(size))
        signs += one.height;
    const int below
        = (size.height() >= kWholeFrom ? std::max(signs, 2 * kSigns) : signs) + 4 + (m_explained.empty() ? 0 : kSigns);
    return { kInset, kMapTop, std::max(1, size.width() - 2 * kInset), std::max(1, size.height() - kMapTop - below) };
}

const std::vector<RankMap::Explained>& RankMap::explanations(QSize size) const
{
    if (m_explanations.first != size)
        m_explanations = { size, explain(size) };
    return m_explanations.second;
}

/// Narrow beside the list of replicas those of signs wrap, as long as half of the height is left to the map; in a low
/// map they are the sign's name alone.
std::vector<RankMap::Explained> RankMap::explain(QSize size) const
{
    if (!m_picture || m_picture->ranks.empty())
        return {};
    const bool isWhole = size.height() >= kWholeFrom;
    std::vector<Explained> all;
    const QFontMetrics metrics(wordsFont(11));
    if (const QString why = whyNoneIsOdd(); !why.isEmpty()) {
        const int width = size.width() - 2 * kInset;
        const QRect room = metrics.boundingRect({ 0, 0, width, QWIDGETSIZE_MAX }, Qt::TextWordWrap, why);
        const QString brief = tr("Fewer than %1 alike: none is judged").arg(analysis::kLeastPeers);
        const int left = size.height() - kMapTop - kSigns - 4 - (m_explained.empty() ? 0 : kSigns);
        if (isWhole && room.height() <= kMostBareLines * metrics.lineSpacing() + metrics.lineSpacing() / 2)
            all.push_back({ RankOddness::Grade::Like, why });
        else if (left >= kLeastBesideBare && metrics.horizontalAdvance(brief) <= width)
            all.push_back({ RankOddness::Grade::Like, brief });
    }
    const std::array signs {
        std::pair(RankOddness::Grade::Odd,
            tr("over the steps shown or at this step unlike its peers: not finite, or far in a tenth of the cells")),
        std::pair(RankOddness::Grade::AtTimes,
            tr("over the steps shown or at this step very far from its peers in some cells"))
    };
    for (const auto& [grade, words] : signs) {
        const bool isSeen = std::any_of(m_picture->ranks.begin(), m_picture->ranks.end(),
            [grade = grade](const MapRank& one) { return one.odd.grade == grade; });
        if (m_picture->areCompared && isSeen)
            all.push_back({ grade, isWhole ? words : rankMarkText(grade) });
    }
    int lines = isWhole ? std::max(2, (size.height() - kMapTop) / 2 / kSignLine) : static_cast<int>(all.size());
    for (Explained& one : all) {
        one.left = kInset + (one.grade == RankOddness::Grade::Like ? 0 : 16);
        const QRect room(0, 0, size.width() - kInset - one.left, QWIDGETSIZE_MAX);
        const int height = metrics.boundingRect(room, Qt::TextWordWrap, one.words).height();
        const int wish = (height + metrics.lineSpacing() / 2) / metrics.lineSpacing();
        const int given = std::clamp(wish, 1, std::max(1, lines - static_cast<int>(&all.back() - &one)));
        if (given < wish)
            one.words = metrics.elidedText(one.words, Qt::ElideRight, room.width() * (10 * given - 2) / 10);
        lines -= given;
        one.height = kSigns + (given - 1) * kSignLine;
    }
    return all;
}

QString RankMap::whyNoneIsOdd() const
{
    if (!m_picture || m_picture->ranks.empty() || m_picture->areCompared)
        return {};
    return tr("Fewer than %1 ranks hold the same part of the model: none can be told to be odd.")
        .arg(analysis::kLeastPeers);
}

QString RankMap::whyOdd(const MapRank& one)
{
    return (one.isOverSteps ? tr("%1 over the steps shown (%2 of %3 cells)") : tr("%1 at this step (%2 of %3 cells)"))
        .arg(rankMarkText(one.odd.grade))
        .arg(one.odd.far)
        .arg(one.odd.compared);
}

bool RankMap::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return PlotCanvas::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const bool isOfRank = layoutFor(size()).rankAt(help->pos()).value >= 0;
    QToolTip::showText(help->globalPos(), isOfRank ? QString() : whyNoneIsOdd(), this);
    return true;
}

RankMapLayout RankMap::layoutFor(QSize size) const
{
    if (!m_picture)
        return {};
    std::vector<Rank> ranks;
    for (const MapRank& one : m_picture->ranks)
        ranks.push_back(one.rank);
    return { m_picture->topology, ranks, QRectF(plotRect(size)) };
}

const MapRank* RankMap::find(Rank rank) const
{
    if (!m_picture)
        return nullptr;
    const auto found = std::find_if(
        m_picture->ranks.begin(), m_picture->ranks.end(), [rank](const MapRank& one) { return one.rank == rank; });
    return found == m_picture->ranks.end() ? nullptr : &*found;
}

void RankMap::hoveredAt(QPoint position)
{
    m_near = layoutFor(size()).rankAt(position);
    update();
}

void RankMap::left()
{
    m_near = Rank { -1 };
}

void RankMap::clickedAt(QPoint position, Qt::KeyboardModifiers)
{
    if (const Rank rank = layoutFor(size()).rankAt(position); rank.value >= 0)
        Q_EMIT rankPicked(rank);
}

void RankMap::keyPressEvent(QKeyEvent* event)
{
    const Rank from = m_near.value >= 0 ? m_near : state().rank();
    const auto go = [&](int columns, int rows) {
        m_near = layoutFor(size()).beside(from, columns, rows);
        update();
    };
    switch (event->key()) {
    case Qt::Key_Left:
        return go(-1, 0);
    case Qt::Key_Right:
        return go(1, 0);
    case Qt::Key_Up:
        return go(0, -1);
    case Qt::Key_Down:
        return go(0, 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (find(m_near))
            Q_EMIT rankPicked(m_near);
        return;
    default:
        PlotCanvas::keyPressEvent(event);
    }
}

void RankMap::paintFrame(QImage& frame, QSize size)
{
    if (!m_picture || m_picture->ranks.empty())
        return;
    const Theme& theme = Theme::current();
    QPainter painter(&frame);
    const RankMapLayout layout = layoutFor(size);
    painter.setFont(numberFont(11));
    painter.setPen(theme.text2);
    for (const RankMapLayout::Label& label : layout.columnLabels())
        painter.drawText(label.box, Qt::AlignHCenter | Qt::AlignVCenter, label.text);
    for (const RankMapLayout::Label& label : layout.rowLabels())
        painter.drawText(label.box, Qt::AlignRight | Qt::AlignVCenter, label.text);
    painter.setFont(wordsFont(11, 500));
    painter.setPen(theme.text);
    for (const RankMapLayout::Label& label : layout.blockLabels())
        painter.drawText(label.box, Qt::AlignLeft | Qt::AlignVCenter, label.text);
    paintCells(painter, layout);
    paintSigns(painter, size);
    paintStates(painter, size);
}

void RankMap::paintStates(QPainter& painter, QSize size) const
{
    const Theme& theme = Theme::current();
    painter.setFont(wordsFont(11));
    double x = kInset;
    const double y = plotRect(size).bottom() + 4;
    for (const CellState state : m_explained) {
        const QString word = glyphs::word(state);
        const double wide = painter.fontMetrics().horizontalAdvance(word) + 2;
        if (x + 19 + wide > size.width() - kInset)
            return;
        glyphs::paintCell(painter, QRectF(x, std::round(y) + 2, 13, 13), state, theme);
        painter.setPen(theme.text2);
        painter.drawText(QRectF(x + 19, y, wide, 17), Qt::AlignLeft | Qt::AlignVCenter, word);
        x += 19 + wide + 14;
    }
}

void RankMap::paintCells(QPainter& painter, const RankMapLayout& layout) const
{
    const Theme& theme = Theme::current();
    const ColorIndex colors(m_picture->scale);
    // Where cells are smaller than a pixel, what is not finite is painted last: nothing may hide it.
    for (const bool nonFinite : { false, true }) {
        for (const MapRank& one : m_picture->ranks) {
            if (series::isNonFinite(one.value.state) != nonFinite)
                continue;
            const QRectF cell = layout.cellOf(one.rank);
            const bool isSmall = cell.width() < 6;
            QColor ink = theme.text2;
            if (one.value.state == CellState::Value) {
                const auto fill
                    = QColor::fromRgb(kSequentialTable[colors.indexOf(static_cast<float>(one.value.value))]);
                painter.fillRect(cell, fill);
                ink = inkOn(fill);
            } else if (isSmall) {
                painter.fillRect(nonFinite ? cell.adjusted(0, 0, 1, 1) : cell, glyphs::fill(one.value.state, theme));
            } else {
                glyphs::paintCell(painter, cell, one.value.state, theme);
            }
            if (cell.width() >= kNumbered) {
                // In the middle is the value, or the sign of what is none; where neither fits, the rank.
                const bool isValue = one.value.state == CellState::Value;
                painter.setFont(numberFont(11));
                QString value;
                bool fits = !isValue;
                for (int figures = kMapFigures; !fits && figures >= kLeastFigures && cell.width() >= kValued;
                     --figures) {
                    value = statValueText(m_picture->stat, one.value.value, figures);
                    fits = painter.fontMetrics().horizontalAdvance(value) + kBesideValue <= cell.width();
                }
                painter.setPen(nonFinite ? glyphs::ink(one.value.state) : ink);
                const QString rank = QString::number(one.rank.value);
                if (isValue)
                    painter.drawText(cell, Qt::AlignCenter, fits ? value : rank);
                if (fits) {
                    painter.setFont(numberFont(10));
                    painter.drawText(cell.adjusted(3, 0, -3, -1), Qt::AlignLeft | Qt::AlignBottom, rank);
                }
            }
            if (isSmall || one.odd.grade == RankOddness::Grade::Like)
                continue;
            if (cell.width() < kMarked) { // a line is all that leaves the value to be seen
                painter.fillRect(QRectF(cell.left(), cell.bottom() - 2, cell.width(), 2), theme.warnMark);
                continue;
            }
            const QPointF corner = cell.topRight() + QPointF(-5, 5);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme.base);
            painter.drawEllipse(corner, 6.5, 6.5);
            paintRankMark(painter, corner, one.odd.grade, theme);
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
    }
}

void RankMap::paintSigns(QPainter& painter, QSize size) const
{
    const Theme& theme = Theme::current();
    painter.setFont(wordsFont(11));
    const std::vector<Explained>& all = explanations(size);
    int y = size.height();
    for (const Explained& one : all)
        y -= one.height;
    if (size.height() >= kWholeFrom)
        y = std::min(y, size.height() - 2 * kSigns);
    for (const Explained& one : all) {
        if (one.grade != RankOddness::Grade::Like)
            paintRankMark(painter, QPointF(kInset + 5, y + kSigns / 2.0 - 2), one.grade, theme);
        painter.setPen(theme.text2);
        painter.drawText(QRectF(one.left, y, size.width() - kInset - one.left, one.height - 4),
            Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, one.words);
        y += one.height;
    }
}

void RankMap::paintHover(QPainter& painter, const RankMapLayout& layout, QSize size) const
{
    const MapRank* one = find(m_near);
    if (!one)
        return;
    const Theme& theme = Theme::current();
    const QRectF cell = layout.cellOf(one->rank);
    outline(painter, cell, 3, theme);
    Readout readout;
    readout.name = items::shownTensor(m_picture->key.name, m_picture->key.slot);
    QStringList where { tr("rank %1").arg(one->rank.value) };
    for (const Parallel way : analysis::kParallels) {
        const int at = m_picture->topology.coordinate(one->rank, way);
        const auto name = analysis::parallelName(way);
        if (at >= 0)
            where.append(
                QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())) + QStringLiteral(" %1").arg(at));
    }
    where.append(tr("step %1").arg(formatStep(one->value.step.value)));
    readout.where = where.join(items::comma());
    readout.state = one->value.state;
    readout.value = one->value.state == CellState::Value ? statValueText(m_picture->stat, one->value.value)
                                                         : glyphs::word(one->value.state);
    QStringList details { statText(m_picture->stat) };
    if (one->odd.grade != RankOddness::Grade::Like)
        details.append(whyOdd(*one));
    readout.detail = details.join(QStringLiteral("   "));
    paintReadout(painter, QRectF(4, 4, size.width() - 8, size.height() - 8), cell, readout, theme);
}

void RankMap::paintOverlay(QPainter& painter, QSize size)
{
    if (!m_picture || m_picture->ranks.empty())
        return;
    const RankMapLayout layout = layoutFor(size);
    outline(painter, layout.cellOf(state().rank()), 2, Theme::current());
    if (!isStatic())
        paintHover(painter, layout, size);
}

}
