// SPDX-License-Identifier: GPL-3.0-or-later
#include "readout.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <QFontMetricsF>
#include <QPainter>
#include <QTextBoundaryFinder>

#include <telltale/items/comma.h>

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
    bool isJoined = false; ///< it stands in the line of what is before it, where a line has room for both
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
        const bool isAmidNumber = text.at(at - 1) == u'.' && text.at(at).isDigit();
        if ((finder.isAtBoundary() && !isAmidNumber) || (!mark.isEmpty() && text.left(at).endsWith(mark)))
            fits = at;
    }
    return fits;
}

/// Adds a line of `parts`, and further ones where `room` is less than they need: broken between parts, in one that has
/// no room in a line of its own between words, and anywhere in a word that has none.
void flow(std::vector<PieceLine>& lines, const std::vector<Piece>& parts, double indent, double room,
    const QString& mark = QString())
{
    lines.push_back({ {}, indent });
    for (auto at = parts.begin(); at != parts.end(); ++at) {
        const Piece& part = *at;
        const QFontMetricsF metrics(part.font);
        double together = metrics.horizontalAdvance(part.text);
        for (auto next = std::next(at); next != parts.end() && next->isJoined; ++next)
            together += next->text.isEmpty() ? 0 : next->left + QFontMetricsF(next->font).horizontalAdvance(next->text);
        if (!part.isJoined && !lines.back().pieces.empty() && lines.back().width + part.left + together > room
            && indent + together <= room)
            lines.push_back({ {}, indent });
        for (QString rest = part.text; !rest.isEmpty();) {
            const bool isFirst = lines.back().pieces.empty();
            const double left = lines.back().width + (isFirst ? 0 : part.left);
            qsizetype fits = fitting(rest, metrics, room - left, mark);
            if (fits == 0 && !isFirst) {
                lines.push_back({ {}, indent });
                continue;
            }
            for (qsizetype end = 1; fits == 0; ++end)
                fits = end == rest.size() || metrics.horizontalAdvance(rest.left(end + 1)) > room - left ? end : 0;
            const QString text = rest.left(fits).trimmed();
            lines.back().pieces.push_back({ text, part.font, part.ink, left });
            lines.back().width = left + metrics.horizontalAdvance(text);
            rest = rest.mid(fits).trimmed();
            if (!rest.isEmpty())
                lines.push_back({ {}, indent });
        }
    }
}

/// What commas part, each as a piece of its own.
std::vector<Piece> clausesOf(const QString& text, const QFont& font, const QColor& ink)
{
    std::vector<Piece> clauses;
    const double space = QFontMetricsF(font).horizontalAdvance(u' ');
    for (qsizetype begin = 0; begin < text.size();) {
        const qsizetype comma = text.indexOf(items::comma(), begin);
        const qsizetype end = comma < 0 ? text.size() : comma + items::comma().size();
        const QString whole = text.mid(begin, end - begin);
        const bool isAfterSpace = begin > 0 && text.at(begin - 1).isSpace();
        clauses.push_back({ whole.trimmed(), font, ink, isAfterSpace ? space : 0 });
        begin = end;
    }
    return clauses;
}

struct Laid {
    std::vector<PieceLine> lines;
    std::size_t valueLine = 0;
    QSizeF size; ///< px of the whole
};

bool hasSwatch(const Readout& readout)
{
    return readout.state != series::CellState::Value;
}

Laid layOut(const Readout& readout, double width, const Theme& theme)
{
    const QFont plain = wordsFont(12);
    const QFont strong = numberFont(12, 600);
    const double room = width - 2 * kInset;
    Laid laid;
    flow(laid.lines, { { readout.name, codeFont(12, 600), theme.text } }, 0, room, QStringLiteral("."));
    flow(laid.lines, clausesOf(readout.where, plain, theme.text2), 0, room);
    laid.valueLine = laid.lines.size();
    flow(laid.lines,
        { { readout.value, strong, theme.text }, { readout.detail, plain, theme.text2, 8, true },
            { readout.secondValue, strong, theme.text, 14 }, { readout.secondDetail, plain, theme.text2, 8, true } },
        hasSwatch(readout) ? kSwatch : 0, room);
    double widest = 0;
    for (const PieceLine& line : laid.lines)
        widest = std::max(widest, line.width);
    laid.size = { widest + 2 * kInset, kReadoutHeight + static_cast<double>(laid.lines.size() - kLines) * kLinePitch };
    return laid;
}

/// There is room for `size` above, below, left or right of `avoid`.
bool isBeside(QSizeF size, const QRectF& room, const QRectF& avoid)
{
    return std::max(avoid.top() - room.top(), room.bottom() - avoid.bottom()) >= size.height() + kReadoutOff
        || std::max(avoid.left() - room.left(), room.right() - avoid.right()) >= size.width() + kReadoutOff;
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
    Laid laid = layOut(readout, bounds.width(), theme);
    QRectF room = bounds;
    // Where its lines would hide what it is of, they go on beyond the room.
    if (const QRectF window = painter.window(); laid.lines.size() > kLines && !isBeside(laid.size, bounds, avoid)) {
        const QRectF wide(window.left() + 4, bounds.top(), window.width() - 8, bounds.height());
        if (Laid other = layOut(readout, wide.width(), theme); isBeside(other.size, wide, avoid)) {
            laid = std::move(other);
            room = wide;
        }
    }
    const double width = laid.size.width();
    const double height = laid.size.height();

    double left = avoid.right() + kReadoutOff;
    if (left + width > room.right())
        left = avoid.left() - kReadoutOff - width;
    double top = avoid.top() - kReadoutOff - height;
    if (top < room.top())
        top = avoid.bottom() + kReadoutOff;
    left = std::clamp(left, room.left(), std::max(room.left(), room.right() - width));
    top = std::clamp(top, room.top(), std::max(room.top(), room.bottom() - height));

    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box(std::round(left) + 0.5, std::round(top) + 0.5, std::ceil(width), height);
    painter.setPen(QPen(theme.controlBorder, 1));
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(box, 4, 4);
    const double x = box.left() + kInset;
    for (std::size_t i = 0; i < laid.lines.size(); ++i) {
        // The value stands a little apart.
        const double y = box.top() + 19 + static_cast<double>(i) * kLinePitch + (i < laid.valueLine ? 0 : 1);
        if (hasSwatch(readout) && i == laid.valueLine)
            glyphs::paintCell(painter, QRectF(x, y - 11, 13, 13), readout.state, theme);
        for (const Piece& one : laid.lines[i].pieces) {
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
