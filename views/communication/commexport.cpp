// SPDX-License-Identifier: GPL-3.0-or-later
// The picture and the table of a view of collectives, as files.
#include <array>

#include <QComboBox>
#include <QLabel>
#include <QPainter>

#include <telltale/common/csv.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/readout.h>
#include <telltale/heatmap/heatcanvas.h>

#include "commlane.h"
#include "commtable.h"
#include "communicationview.h"

namespace telltale::views {

namespace {

constexpr int kRow = 22;
constexpr int kHead = 34;
constexpr int kInset = 16;

/// How wide each column is, of a picture: as its longest cell wants, what is left for the call sites.
std::vector<int> widthsOf(const QAbstractItemModel& model, int width)
{
    std::vector<int> widths;
    int taken = 0;
    for (int column = 0; column < model.columnCount(); ++column) {
        const QFontMetrics head(wordsFont(11));
        int most = head.horizontalAdvance(model.headerData(column, Qt::Horizontal).toString());
        for (int row = 0; row < model.rowCount(); ++row) {
            const QModelIndex index = model.index(row, column);
            most = std::max(
                most, QFontMetrics(index.data(Qt::FontRole).value<QFont>()).horizontalAdvance(index.data().toString()));
        }
        widths.push_back(most + 20);
        taken += column == CommModel::SiteColumn ? 0 : widths.back();
    }
    auto& site = widths[CommModel::SiteColumn];
    site = std::max(120, width - taken);
    return widths;
}

void paintTable(QPainter& painter, const QRect& place, const QAbstractItemModel& model)
{
    const Theme& theme = Theme::current();
    const std::vector<int> widths = widthsOf(model, place.width());
    const int shown = std::min(model.rowCount(), std::max(0, (place.height() - kRow) / kRow));
    for (int row = -1; row < shown; ++row) {
        int x = place.left();
        const int y = place.top() + (row + 1) * kRow;
        for (int column = 0; column < model.columnCount(); ++column) {
            const QModelIndex index = model.index(std::max(row, 0), column);
            const auto align = static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt());
            const int width = widths[static_cast<std::size_t>(column)];
            painter.setFont(row < 0 ? wordsFont(11) : index.data(Qt::FontRole).value<QFont>());
            const QVariant color = index.data(Qt::ForegroundRole);
            painter.setPen(row < 0 ? theme.text3 : color.isValid() ? color.value<QColor>() : theme.text);
            const QString text
                = row < 0 ? model.headerData(column, Qt::Horizontal).toString() : index.data().toString();
            painter.drawText(QRect(x, y, width - 12, kRow), static_cast<int>(align),
                painter.fontMetrics().elidedText(text, Qt::ElideRight, width - 12));
            x += width;
        }
        painter.fillRect(QRect(place.left(), y + kRow - 1, place.width(), 1), theme.border);
    }
}

}

QStringList CommunicationView::shownWords() const
{
    return { tr("collectives by call site"), m_belowBox->currentText() };
}

void CommunicationView::paintPicture(QPainter& painter, QSize size)
{
    const ViewState& state = *context().state;
    const Theme& theme = Theme::current();
    const PictureCaption caption = PictureCaption::of(state, shownWords(), true);
    painter.setFont(wordsFont(12, 600));
    painter.setPen(theme.text);
    const QString at = m_caption->text().isEmpty() ? QString() : QStringLiteral(", ") + m_caption->text();
    painter.drawText(QRect(kInset, 0, size.width() - 2 * kInset, kHead),
        static_cast<int>(Qt::AlignVCenter | Qt::AlignLeft), caption.run + QStringLiteral("    ") + caption.what + at);
    if (!m_picture || m_picture->rows.empty())
        return paintEmptyState(painter, QRectF(QPointF(), QSizeF(size)), emptyText(), theme);
    CommModel model;
    model.set(m_picture);
    const int wanted = kRow * (static_cast<int>(m_picture->rows.size()) + 1) + 12;
    const int table = std::min(wanted, size.height() * 6 / 10 - kHead);
    paintTable(painter, QRect(kInset, kHead, size.width() - 2 * kInset, table), model);
    PlotCanvas* below = m_metric ? static_cast<PlotCanvas*>(m_strip) : m_lane;
    below->paintTo(painter, QRect(0, kHead + table, size.width(), std::max(1, size.height() - kHead - table)));
}

Expected<void> CommunicationView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (const char* title : { "rank", "step", "operation", "call_site", "group", "dtype", "calls", "bytes", "seconds",
             "begin_ns", "end_ns", "statistic", "before_state", "before", "after_state", "after", "stack" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    for (const int at : m_picture ? m_table->order() : std::vector<int>()) {
        const CommRow& row = m_picture->rows[static_cast<std::size_t>(at)];
        csv.integer(m_picture->rank.value).integer(m_picture->step.value_or(m_picture->atStep).value);
        csv.text(row.site.op).text(row.site.place + QLatin1Char(' ') + row.site.function);
        csv.text(row.site.groups.join(QStringLiteral("; "))).text(row.site.dtypes.join(QStringLiteral("; ")));
        for (const series::CellValue& one : row.metrics) {
            if (one.state == series::CellState::Value)
                csv.number(one.value);
            else
                csv.empty();
        }
        csv.text(QString::fromUtf8(statName(m_picture->stat)));
        writeCell(csv, row.before.state, row.before.value, true);
        writeCell(csv, row.after.state, row.after.value, true);
        csv.text(row.site.stack.join(QLatin1Char(';')));
        csv.endRow();
    }
    return csv.finish();
}

}
