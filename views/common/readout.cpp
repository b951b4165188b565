// SPDX-License-Identifier: GPL-3.0-or-later
#include "readout.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <QFontMetricsF>
#include <QPainter>
#include <QTextBoundaryFinder>

#include "glyphs.h"

namespace telltale::views {

namespace {
constexpr double kReadoutHeight = 64;
constexpr double kReadoutOff = 12;
constexpr double kInset = 11;
constexpr double kLinePitch = 17;
constexpr double kSwatch = 20; ///< px of it before the value
constexpr std::size_t kLines = 3; ///< of kReadoutHeight

struct Piece {
    QString text;
    QFont font;
    QColor ink;
    double left = 0; ///< px from what is before it; in a line from where that begins
};

struct PieceLine {
    std::vector<Piece> pieces;
    double width = 0;
};

/// How much of `text` fits into `room`: to the last place where it may break, which is behind `mark`, too; 0: none.
qsizetype fitting(const QString& text, const QFontMetricsF& metrics, double room, const QString& mark)
{
    if (metrics.horizontalAdvance(text) <= room)
        return text.size();
    QTextBoundaryFinder finder(QTextBoundaryFinder::Line, text);
    qsizetype fits = 0;
    for (qsizetype at = 1; at < text.size() && metrics.horizontalAdvance(text.left(at).trimmed()) <= room; ++at) {
        finder.setPosition(at);
        if (finder.isAtBoundary() || (!mark.isEmpty() && text.left(at).endsWith(mark)))
            fits = at;
    }
    return fits;
}

/// Adds a line of `parts`, and further ones where `room` is less than they need: broken between parts and words, and
/// anywhere in a word that has no room in a line of its own.
void flow(std::vector<PieceLine>& lines, const std::vector<Piece>& parts, double indent, double room,
    const QString& mark = QString())
{
    lines.push_back({ {}, indent });
    for (const Piece& part : parts) {
        const QFontMetricsF metrics(part.font);
        for (QString rest = part.text; !rest.isEmpty();) {
            const bool isFirst = lines.back().pieces.empty();
            const double left = lines.back().width + (isFirst ? 0 : part.left);
            qsizetype fits = fitting(rest, metrics, room - left, mark);
            if (fits == 0 && !isFirst) {
                lines.push_back({ {}, indent });
                continue;
            }
            for (qsizetype at = 1; fits == 0; ++at)
                fits = at == rest.size() || metrics.horizontalAdvance(rest.left(at + 1)) > room - left ? at : 0;
            const QString text = rest.left(fits).trimmed();
            lines.back().pieces.push_back({ text, part.font, part.ink, left });
            lines.back().width = left + metrics.horizontalAdvance(text);
            rest = rest.mid(fits).trimmed();
            if (!rest.isEmpty())
                lines.push_back({ {}, indent });
        }
    }
}
}

QRectF readoutRoom(const QRectF& usual, const QRectF& whole, const QRectF& avoid)
{
    const bool hasRoom
        = std::max(avoid.top() - usual.top(), usual.bottom() - avoid.bottom()) >= kReadoutHeight + kReadoutOff;
    return hasRoom ? usual : whole;
}

void paintReadout(
    QPainter& painter, const QRectF& bounds, const QRectF& avoid, const Readout& readout, const Theme& theme)
{
    const QFont plain = wordsFont(12);
    const QFont strong = numberFont(12, 600);
    const bool swatch = readout.state != series::CellState::Value;
    const double room = bounds.width() - 2 * kInset;
    std::vector<PieceLine> lines;
    flow(lines, { { readout.name, codeFont(12, 600), theme.text } }, 0, room, QStringLiteral("."));
    flow(lines, { { readout.where, plain, theme.text2 } }, 0, room);
    const std::size_t valueLine = lines.size();
    flow(lines,
        { { readout.value, strong, theme.text }, { readout.detail, plain, theme.text2, 8 },
            { readout.secondValue, strong, theme.text, 14 }, { readout.secondDetail, plain, theme.text2, 8 } },
        swatch ? kSwatch : 0, room);
    double widest = 0;
    for (const PieceLine& line : lines)
        widest = std::max(widest, line.width);
    const double width = widest + 2 * kInset;
    const double height = kReadoutHeight + static_cast<double>(lines.size() - kLines) * kLinePitch;

    double left = avoid.right() + kReadoutOff;
    if (left + width > bounds.right())
        left = avoid.left() - kReadoutOff - width;
    double top = avoid.top() - kReadoutOff - height;
    if (top < bounds.top())
        top = avoid.bottom() + kReadoutOff;
    left = std::clamp(left, bounds.left(), std::max(bounds.left(), bounds.right() - width));
    top = std::clamp(top, bounds.top(), std::max(bounds.top(), bounds.bottom() - height));

    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box(std::round(left) + 0.5, std::round(top) + 0.5, std::ceil(width), height);
    painter.setPen(QPen(theme.controlBorder, 1));
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(box, 4, 4);
    const double x = box.left() + kInset;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        // The value stands a little apart.
        const double y = box.top() + 19 + static_cast<double>(i) * kLinePitch + (i < valueLine ? 0 : 1);
        if (swatch && i == valueLine)
            glyphs::paintCell(painter, QRectF(x, y - 11, 13, 13), readout.state, theme);
        for (const Piece& one : lines[i].pieces) {
            painter.setFont(one.font);
            painter.setPen(one.ink);
            painter.drawText(QPointF(x + one.left, y), one.text);
        }
    }
    painter.restore();
}

void paintEmptyState(QPainter& painter, const QRectF& area, const QString& sentence, const Theme& theme)
{
    painter.save();
    painter.setFont(wordsFont(13));
    painter.setPen(theme.text3);
    painter.drawText(area.adjusted(20, 20, -20, -20), Qt::AlignCenter | Qt::TextWordWrap, sentence);
    painter.restore();
}

}
