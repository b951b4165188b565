// SPDX-License-Identifier: GPL-3.0-or-later
#include "notepainter.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include "annotator.h"

namespace telltale::views {

namespace {

constexpr double kMostWidth = 320;
constexpr double kNoteInset = 10;

QColor faint(QColor color, float alpha)
{
    color.setAlphaF(alpha);
    return color;
}

}

NotePainter::NotePainter(QPainter& painter, const Theme& theme, const QRectF& plot, std::function<double(Step)> xOf)
    : m_painter(painter)
    , m_theme(theme)
    , m_plot(plot)
    , m_xOf(std::move(xOf))
{
}

void NotePainter::leaf(double x)
{
    // A sheet with its corner folded and two lines on it: no flag, no severity. Beside the line, on which an incident's
    // mark may stand.
    const QRectF box(x + kAway - kSide / 2, m_plot.top() - kSide - 3, kSide, kSide);
    QPainterPath sheet(box.topLeft());
    sheet.lineTo(box.right() - 3, box.top());
    sheet.lineTo(box.right(), box.top() + 3);
    sheet.lineTo(box.bottomRight());
    sheet.lineTo(box.bottomLeft());
    sheet.closeSubpath();
    m_painter.setPen(QPen(m_theme.base, 1));
    m_painter.setBrush(m_theme.accent);
    m_painter.drawPath(sheet);
    for (const double y : { 4.5, 7.0 })
        m_painter.drawLine(QPointF(box.left() + 2, box.top() + y), QPointF(box.right() - 2, box.top() + y));
}

void NotePainter::marks(StepRange range, const std::vector<store::StepNote>& notes, bool areFilled)
{
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing);
    for (const store::StepNote& note : notes) {
        if (note.isRemoved || note.steps.last < range.first || range.last < note.steps.first)
            continue;
        const double from = std::clamp(m_xOf(note.steps.first), m_plot.left(), m_plot.right());
        const double to = std::clamp(m_xOf(note.steps.last), m_plot.left(), m_plot.right());
        if (to > from + 1) {
            if (areFilled)
                m_painter.fillRect(
                    QRectF(from, m_plot.top(), to - from, m_plot.height()), faint(m_theme.accent, 0.12F));
            m_painter.fillRect(QRectF(from, m_plot.top() - 2, to - from, 2), m_theme.accent);
        }
        if (!range.contains(note.steps.first))
            continue;
        QPen pen(faint(m_theme.accent, 0.7F), 1);
        pen.setDashPattern({ 1, 3 });
        m_painter.setPen(pen);
        m_painter.drawLine(
            QPointF(std::floor(from) + 0.5, m_plot.top()), QPointF(std::floor(from) + 0.5, m_plot.bottom()));
        leaf(from);
    }
    m_painter.restore();
}

void NotePainter::text(const store::StepNote& note)
{
    const QString words = QString::fromStdString(note.text);
    const QString who = QCoreApplication::translate("telltale::views::NotePainter", "%1, by %2")
                            .arg(noteWhere(note.steps), Annotator::writerText(note.author));
    const QFontMetricsF text(wordsFont(12));
    const QFontMetricsF small(wordsFont(11));
    const double room = std::min(kMostWidth, std::max(80.0, m_plot.width() - 2 * kNoteInset));
    const QRectF wrapped = text.boundingRect(QRectF(0, 0, room, 400), Qt::TextWordWrap, words);
    const double width = std::max(wrapped.width(), std::min(room, small.horizontalAdvance(who))) + 2 * kNoteInset;
    const double left
        = std::clamp(m_xOf(note.steps.first) + 8, m_plot.left(), std::max(m_plot.left(), m_plot.right() - width));
    const QRectF box(std::round(left) + 0.5, m_plot.top() + 4.5, std::ceil(width), std::ceil(wrapped.height()) + 32);
    m_painter.save();
    m_painter.setRenderHint(QPainter::Antialiasing);
    m_painter.setPen(QPen(m_theme.controlBorder, 1));
    m_painter.setBrush(m_theme.raised);
    m_painter.drawRoundedRect(box, 4, 4);
    m_painter.setPen(m_theme.text);
    m_painter.setFont(wordsFont(12));
    m_painter.drawText(QRectF(box.left() + kNoteInset, box.top() + 6, width - 2 * kNoteInset, wrapped.height()),
        Qt::TextWordWrap, words);
    m_painter.setPen(m_theme.text2);
    m_painter.setFont(wordsFont(11));
    m_painter.drawText(QRectF(box.left() + kNoteInset, box.bottom() - 22, width - 2 * kNoteInset, 16),
        Qt::AlignLeft | Qt::AlignVCenter, small.elidedText(who, Qt::ElideRight, width - 2 * kNoteInset));
    m_painter.restore();
}

QString noteWhere(StepRange steps)
{
    return steps.count() > 1
        ? QCoreApplication::translate("telltale::views::NotePainter", "steps %1 to %2")
              .arg(formatStep(steps.first.value), formatStep(steps.last.value))
        : QCoreApplication::translate("telltale::views::NotePainter", "step %1").arg(formatStep(steps.first.value));
}

}
