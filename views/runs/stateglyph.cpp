// SPDX-License-Identifier: GPL-3.0-or-later
#include "stateglyph.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>

#include <telltale/common/glyphs.h>
#include <telltale/common/theme.h>

namespace telltale::views {

using store::RunState;

QString runStateText(RunState state)
{
    const char* text = "";
    switch (state) {
    case RunState::Live:
        text = QT_TRANSLATE_NOOP("RunState", "live");
        break;
    case RunState::Finished:
        text = QT_TRANSLATE_NOOP("RunState", "finished");
        break;
    case RunState::Failed:
        text = QT_TRANSLATE_NOOP("RunState", "failed");
        break;
    case RunState::Interrupted:
        text = QT_TRANSLATE_NOOP("RunState", "interrupted");
        break;
    case RunState::Lost:
        text = QT_TRANSLATE_NOOP("RunState", "lost");
        break;
    case RunState::Damaged:
        text = QT_TRANSLATE_NOOP("RunState", "damaged");
        break;
    case RunState::Newer:
        text = QT_TRANSLATE_NOOP("RunState", "of a newer version");
        break;
    }
    return QCoreApplication::translate("RunState", text);
}

void paintRunState(QPainter* painter, const QRectF& box, RunState state, int loudness)
{
    const Theme& theme = Theme::current();
    const QPointF c = box.center();
    if (loudness > 0) {
        const QPointF mark = c + QPointF(3.75, 3.5);
        glyphs::paintSeverity(
            *painter, mark, 9, loudness > 1 ? glyphs::Severity::Critical : glyphs::Severity::Warning, theme);
        QPainterPath around;
        around.addRect(box);
        around.addEllipse(mark, 5.5, 5.5); // the state leaves it room, on whatever ground
        painter->save();
        painter->setClipPath(around, Qt::IntersectClip);
        paintRunState(painter, box, state);
        painter->restore();
        return;
    }
    const auto pen
        = [&](const QColor& color) { painter->setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin)); };
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(Qt::NoBrush);
    switch (state) {
    case RunState::Live:
        pen(theme.ok);
        painter->drawEllipse(c, 5, 5);
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.ok);
        painter->drawEllipse(c, 2.25, 2.25);
        break;
    case RunState::Finished:
        // The end, and no tick: that all of it can be read only a full reading would say.
        pen(theme.text2);
        painter->drawRoundedRect(QRectF(c.x() - 3.5, c.y() - 3.5, 7, 7), 1, 1);
        break;
    case RunState::Failed:
        pen(theme.criticalText);
        painter->drawLine(c + QPointF(-3, -3), c + QPointF(3, 3));
        painter->drawLine(c + QPointF(-3, 3), c + QPointF(3, -3));
        break;
    case RunState::Interrupted:
    case RunState::Lost: {
        pen(theme.warnMark);
        painter->drawEllipse(c, 5, 5);
        const QPointF hands[] = { c + QPointF(0, -2.75), c, c + QPointF(2, 1.25) };
        painter->drawPolyline(hands, 3);
        break;
    }
    case RunState::Damaged: {
        pen(theme.warnMark);
        const QPointF triangle[] = { c + QPointF(0, -4.5), c + QPointF(5, 4), c + QPointF(-5, 4) };
        painter->drawPolygon(triangle, 3);
        painter->drawLine(c + QPointF(0, -1), c + QPointF(0, 1.25));
        break;
    }
    case RunState::Newer:
        pen(theme.text3);
        painter->drawRoundedRect(QRectF(c.x() - 4, c.y() - 0.5, 8, 5.5), 1, 1);
        painter->drawArc(QRectF(c.x() - 2.5, c.y() - 5, 5, 7), 0, 180 * 16);
        break;
    }
    painter->restore();
}

}
