// SPDX-License-Identifier: GPL-3.0-or-later
#include "exportpicture.h"

#include <algorithm>

#include <QCoreApplication>
#include <QPainter>

#include "plotcanvas.h"
#include "theme.h"

namespace telltale::views {

namespace {

constexpr int kInset = 12;

}

PictureCaption PictureCaption::of(const ViewState& state, QStringList what, bool hasOneRank, bool hasAllRuns)
{
    PictureCaption caption;
    if (state.run())
        caption.run = QString::fromStdString(
            state.catalog() && !state.catalog()->name.empty() ? state.catalog()->name : state.run()->name);
    if (hasOneRank)
        what.append(QCoreApplication::translate("PictureCaption", "rank %1").arg(state.rank().value));
    StepRange steps = state.visibleRange();
    if (const StepRange own = state.ownRange(); !hasAllRuns && !own.isEmpty())
        steps = { std::max(steps.first, own.first), std::min(steps.last, own.last) };
    if (!steps.isEmpty())
        what.append(QCoreApplication::translate("PictureCaption", "steps %1 to %2")
                        .arg(formatStep(steps.first.value), formatStep(steps.last.value)));
    caption.what = what.join(QStringLiteral("  ·  "));
    return caption;
}

void paintWithCaption(QPainter& painter, const QRect& place, PlotCanvas& canvas, const PictureCaption& caption)
{
    const Theme& theme = Theme::current();
    canvas.paintTo(painter, place.adjusted(0, std::min(kCaptionBand, place.height() - 1), 0, 0));
    painter.setFont(wordsFont(12, 600));
    painter.setPen(theme.text);
    const QRect line(place.left() + kInset, place.top() + 4, place.width() - 2 * kInset, kCaptionBand - 4);
    const QString run
        = painter.fontMetrics().elidedText(caption.run, Qt::ElideLeft, line.width() / (caption.what.isEmpty() ? 1 : 2));
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, run);
    const int taken = run.isEmpty() ? 0 : painter.fontMetrics().horizontalAdvance(run) + 16;
    painter.setFont(wordsFont(12));
    painter.setPen(theme.text2);
    painter.drawText(line.adjusted(taken, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(caption.what, Qt::ElideRight, line.width() - taken));
}

}
