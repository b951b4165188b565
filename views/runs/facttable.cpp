// SPDX-License-Identifier: GPL-3.0-or-later
#include "facttable.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <QPainter>

#include <telltale/common/theme.h>

namespace telltale::views {

namespace {

constexpr int kRow = 20;
constexpr int kHint = 14;
constexpr int kHead = 22;
constexpr int kApart = 10; ///< between neighboring values
constexpr int kNameWidth = 70; ///< where the values begin in the Code style

}

FactTable::FactTable(Style style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void FactTable::set(QStringList columns, std::vector<Row> rows)
{
    m_columns = std::move(columns);
    m_rows = std::move(rows);
    setAccessibleDescription(text());
    updateGeometry();
    update();
}

void FactTable::setTitle(const QString& title)
{
    m_title = title;
}

int FactTable::headHeight() const
{
    return m_title.isEmpty() ? 0 : kHead;
}

QString FactTable::text() const
{
    QString all = m_columns.isEmpty() ? QString() : m_title + u'\t' + m_columns.join(u'\t') + u'\n';
    for (const Row& row : m_rows) {
        all += row.name;
        for (const Value& value : row.values)
            all += u'\t' + value.text;
        all += u'\n';
    }
    return all;
}

int FactTable::rowHeight(const Row& row) const
{
    const bool hinted
        = std::any_of(row.values.begin(), row.values.end(), [](const Value& v) { return !v.hint.isEmpty(); });
    return hinted ? kRow + kHint : kRow;
}

QSize FactTable::sizeHint() const
{
    int height = headHeight();
    for (const Row& row : m_rows)
        height += rowHeight(row);
    return { 240, height };
}

int FactTable::namesWidth(int width, int columns) const
{
    constexpr int kNumber = 72; // "−1.234e-5"
    const QFontMetricsF metrics(wordsFont(12)); // a fraction of a pixel too little cuts the name
    int widest = 0;
    for (const Row& row : m_rows)
        widest = std::max(widest, static_cast<int>(std::ceil(metrics.horizontalAdvance(row.name))) + kApart);
    return std::max(width * 3 / 10, std::min(widest, width - columns * kNumber));
}

/// All alike, but for those whose hints would run into that of the column before: they get the room that the first
/// one's values leave, whose hints reach below the names.
std::vector<int> FactTable::columnWidths(int width, int columns) const
{
    constexpr int kHintsApart = 6;
    const QFontMetrics values(numberFont(12, 500)), hints(numberFont(10));
    std::vector<int> widths(static_cast<std::size_t>(columns), width / columns);
    int least = 0; // of the first
    std::vector<int> needs(widths.size());
    for (const Row& row : m_rows) {
        if (!row.values.empty() && row.values.front().elide == Qt::ElideRight)
            least = std::max(least, values.horizontalAdvance(row.values.front().text) + kApart);
        for (std::size_t i = 1; i < std::min(row.values.size(), needs.size()); ++i) {
            if (!row.values[i - 1].hint.isEmpty() && !row.values[i].hint.isEmpty())
                needs[i] = std::max(needs[i], hints.horizontalAdvance(row.values[i].hint) + kHintsApart);
        }
    }
    for (std::size_t i = 1; i < needs.size(); ++i) {
        const int given = std::clamp(needs[i] - widths[i], 0, std::max(widths.front() - least, 0));
        widths.front() -= given;
        widths[i] += given;
    }
    return widths;
}

void FactTable::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    const int columns = std::max<int>(1, static_cast<int>(m_columns.size()));
    const int nameWidth = m_style == Style::Code ? kNameWidth : namesWidth(width(), columns);
    const std::vector<int> widths = columnWidths(width() - nameWidth, columns);
    const auto cellOf = [&](int column, int top, int height) {
        const auto at = widths.begin() + column;
        return QRect(std::accumulate(widths.begin(), at, nameWidth), top, *at, height);
    };
    if (!m_title.isEmpty()) {
        painter.setPen(theme.text2);
        painter.setFont(wordsFont(11, 600));
        painter.drawText(QRect(0, 0, width(), kHead - 2), static_cast<int>(Qt::AlignVCenter), m_title);
        painter.setFont(wordsFont(11));
        for (int i = 0; i < m_columns.size(); ++i)
            painter.drawText(
                cellOf(i, 0, kHead - 2), static_cast<int>(Qt::AlignVCenter | Qt::AlignRight), m_columns[i]);
    }
    int top = headHeight();
    for (const Row& row : m_rows) {
        painter.setFont(wordsFont(12));
        painter.setPen(theme.text2);
        painter.drawText(QRect(0, top, nameWidth, kRow), static_cast<int>(Qt::AlignVCenter),
            painter.fontMetrics().elidedText(row.name, Qt::ElideRight, nameWidth - kApart));
        for (int i = 0; i < std::min(columns, static_cast<int>(row.values.size())); ++i) {
            const Value& value = row.values[static_cast<std::size_t>(i)];
            const QRect cell = cellOf(i, top, kRow);
            painter.setPen(value.critical ? theme.criticalText : theme.text);
            if (m_style == Style::Code) {
                painter.setFont(codeFont(12));
                painter.drawText(cell, static_cast<int>(Qt::AlignVCenter),
                    painter.fontMetrics().elidedText(value.text, Qt::ElideRight, cell.width()));
                continue;
            }
            painter.setFont(numberFont(12, value.critical ? 500 : 400));
            painter.drawText(cell, static_cast<int>(Qt::AlignVCenter | Qt::AlignRight),
                painter.fontMetrics().elidedText(value.text, value.elide, cell.width() - kApart));
            if (value.hint.isEmpty())
                continue;
            painter.setFont(numberFont(10));
            painter.setPen(theme.text3);
            // Over the name's column as well, but never under the hint of the value beside it.
            const auto isHinted = [&row](int at) {
                return at >= 0 && at < static_cast<int>(row.values.size())
                    && !row.values[static_cast<std::size_t>(at)].hint.isEmpty();
            };
            const int left = isHinted(i - 1) ? cell.left() : i > 0 ? cellOf(i - 1, top, kRow).left() : 0;
            const QRect box(left, top + kRow - 3, cell.right() + 1 - left, kHint);
            if (painter.fontMetrics().horizontalAdvance(value.hint) <= box.width()) // half a number says another one
                painter.drawText(box, static_cast<int>(Qt::AlignTop | Qt::AlignRight), value.hint);
        }
        painter.setFont(numberFont(10));
        painter.setPen(theme.text3);
        painter.drawText(QPoint(0, top + kRow - 3 + painter.fontMetrics().ascent()), row.hint);
        top += rowHeight(row);
    }
}

}
