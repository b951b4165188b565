// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of the view, and its table.
#include "attentionview.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include <QLabel>
#include <QPainter>

#include <telltale/common/csv.h>
#include <telltale/common/exportpicture.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/plot/curvecanvas.h>

#include "attentioncanvas.h"
#include "caption.h"
#include "headmapspanel.h"

namespace telltale::views {

namespace {

QString wordOf(HeadValue value)
{
    return value == HeadValue::EntropyShare ? QStringLiteral("entropy_share")
                                            : QString::fromUtf8(statName(statOf(value)));
}

/// Of each head that is drawn below a map and each bucket: its row, last step, state and last value there. Bands are of
/// several heads or ranks, and have no value of their own.
void forEachBelow(
    const BelowPicture& below, const std::function<void(const Row&, Step, series::CellState, double)>& visit)
{
    for (std::size_t i = 0; below.curves && i < below.curves->series.size(); ++i) {
        const CurveSeries& one = below.curves->series[i];
        for (int b = 0; b < static_cast<int>(one.result.buckets.size()) && !one.isGroup && !one.isOtherRun; ++b) {
            const series::Bucket& bucket = one.result.buckets[static_cast<std::size_t>(b)];
            visit(one.row, stepsOf(one.result, b).last, bucket.state, bucket.last);
        }
    }
    for (int row = 0; below.strips && row < below.strips->result.rows; ++row) {
        for (int column = 0; column < below.strips->columns(); ++column)
            visit(below.strips->rows[static_cast<std::size_t>(row)], below.strips->stepsOf(row, column).last,
                below.strips->state(row, column), static_cast<double>(below.strips->value(row, column)));
    }
}

}

QStringList AttentionView::shownWords() const
{
    return { headValueText(m_values[0]), headValueText(m_values[1]) };
}

void AttentionView::paintPicture(QPainter& painter, QSize size)
{
    const ViewState& state = *context().state;
    PictureCaption caption = PictureCaption::of(state, shownWords(), true);
    if (!m_canvas->picture() || m_canvas->picture()->isEmpty())
        return paintWithCaption(painter, QRect(QPoint(), size), *m_canvas, caption);
    const int maps = mapsHeight(size);
    paintWithCaption(painter, QRect(0, 0, size.width(), maps), *m_canvas, caption);
    if (maps == size.height())
        return;
    if (m_below == BelowMaps::HeadMaps)
        return m_headMaps->paintTo(painter, QRect(0, maps, size.width(), std::max(1, size.height() - maps)));
    fitCurves(size.width());
    const QSize half(size.width() / 2, std::max(1, size.height() - maps - kCaptionHeight));
    for (std::size_t side = 0; side < m_curves.size(); ++side) {
        const int left = static_cast<int>(side) * half.width();
        QRect line(left + AttentionCanvas::cellsLeft(side), maps, half.width(), kCaptionHeight);
        line.setRight(left + half.width() - kCaptionInset);
        for (const QLabel* part : { m_names[side], m_captions[side] }) {
            painter.setFont(part->font());
            painter.setPen(part == m_names[side] ? Theme::current().text : Theme::current().text3);
            painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                painter.fontMetrics().elidedText(part->text(), Qt::ElideRight, line.width()));
            line.setLeft(line.left() + painter.fontMetrics().horizontalAdvance(part->text()) + kCaptionInset);
        }
        PlotCanvas* below = m_below == BelowMaps::Curves ? static_cast<PlotCanvas*>(m_curves[side]) : m_strips[side];
        below->paintTo(painter, QRect(QPoint(left, maps + kCaptionHeight), half));
    }
    fitCurves(width());
}

Expected<void> AttentionView::writeCsv(QIODevice* device) const
{
    if (m_below == BelowMaps::HeadMaps && !m_headMaps->isEmpty())
        return m_headMaps->writeCsv(device);
    CsvWriter csv(device);
    for (const char* title : { "name", "head", "rank", "step", "statistic", "state", "value", "micro_step" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    const AttentionPicture* picture = m_canvas->picture();
    std::set<std::tuple<QString, int, Rank, HeadValue>> inMaps; // at their step
    std::set<std::tuple<QString, int, Rank>> severals; // heads of several micro steps
    const auto write = [&csv](const ModuleKey& key, Rank rank, Step step, const QString& statistic,
                           series::CellState state, double value, bool isFloat, const QString& micro) {
        csv.text(key.name).integer(key.slot.head).integer(rank.value).integer(step.value).text(statistic);
        writeCell(csv, state, value, isFloat);
        csv.text(micro);
        csv.endRow();
    };
    for (int layer = 0; picture && layer < static_cast<int>(picture->layers.size()); ++layer) {
        const AttentionLayer& of = picture->layers[static_cast<std::size_t>(layer)];
        for (int column = 0; column < picture->columns; ++column) {
            const HeadCell* head = picture->cell(layer, column);
            for (const HeadValue value : kHeadValues) {
                const series::CellValue cell = picture->valueOf(layer, column, value);
                if (!head || cell.state == series::CellState::NotCollected)
                    continue;
                const QString word = wordOf(value);
                write({ of.name, head->key.slot }, of.rank, picture->atStep,
                    picture->isSpread ? word + QStringLiteral("_spread") : word, cell.state, cell.value,
                    value != HeadValue::EntropyShare,
                    head->microSteps > 1 ? QStringLiteral("mean of %1").arg(head->microSteps) : QString());
                if (head->microSteps > 1)
                    severals.emplace(of.name, head->key.slot.head, of.rank);
                else if (!picture->isSpread)
                    inMaps.emplace(of.name, head->key.slot.head, of.rank, value);
            }
        }
    }
    for (std::size_t side = 0; picture && m_answer && side < m_values.size(); ++side) {
        const HeadValue shown = m_values[side];
        if (side > 0 && shown == m_values[0])
            continue; // the same below both maps
        const auto writeBelow = [&](const Row& row, Step step, series::CellState state, double value) {
            const bool isInMaps
                = step == picture->atStep && inMaps.contains({ row.key.name, row.key.slot.head, row.rank, shown });
            const bool hasOthers = severals.contains({ row.key.name, row.key.slot.head, row.rank });
            if (!isInMaps && state != series::CellState::NotCollected)
                write(row.key, row.rank, step, wordOf(shown), state, value, shown != HeadValue::EntropyShare,
                    hasOthers || row.microStep > 0 ? QString::number(std::max(0, row.microStep)) : QString());
        };
        forEachBelow(m_answer->below[side], writeBelow);
    }
    return csv.finish();
}

}
