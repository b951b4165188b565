// SPDX-License-Identifier: GPL-3.0-or-later
#include "heatgutter.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/labels.h>
#include <telltale/common/sharedaxis.h>

#include "rankmark.h"

namespace telltale::views {

namespace {

constexpr int kRowLabelHeight = 12; ///< px, that of the letters and one
constexpr double kMostShift = 20;
constexpr double kInset = 12; ///< px left of the labels
constexpr double kEdge = 8; ///< px between the groups' line and the plot
constexpr double kBeside = kInset + kEdge + 6; ///< px of the gutter that are not for a label
constexpr int kNarrow = 72; ///< px of a gutter that has more need of letters than of air beside them
constexpr double kLeastInset = 4;

double labelWidth(const QRect& plot)
{
    return plot.left() - kBeside + (plot.left() < kNarrow ? kInset - kLeastInset : 0);
}

}

HeatGutter::HeatGutter(const HeatPicture& picture, const RowLayout& layout, const QRect& plot)
    : m_picture(picture)
    , m_layout(layout)
    , m_plot(plot)
{
    if (layout.rows() == 0)
        return;
    if (namesRows(picture, layout.bands().size(), plot.height()))
        addRows();
    else
        addBands();
}

bool HeatGutter::namesRows(const HeatPicture& picture, std::size_t groups, int height)
{
    const auto rows = static_cast<int>(picture.rows.size());
    return rows == 0 || groups < 2 || RowLayout::pitchOf(rows, groups, height, RowLayout::kGap) >= kRowLabelHeight;
}

HeatGutter::Wish HeatGutter::wishOf(const HeatPicture& picture)
{
    const QFontMetricsF metrics(codeFont(11, 600));
    // Ranks are never wider than the gutter that all plots share.
    const double rows = picture.axes == HeatAxes::RankByStep ? 0 : metrics.horizontalAdvance(picture.longestLabel);
    const double groups = metrics.horizontalAdvance(picture.longestGroup);
    return { static_cast<int>(std::ceil(rows + kBeside)), static_cast<int>(std::ceil(groups + kBeside)) };
}

double HeatGutter::middleOf(int row) const
{
    return m_plot.top() + (m_layout.top(row) + m_layout.bottom(row)) / 2.0;
}

void HeatGutter::addRows()
{
    std::vector<QString> texts;
    std::vector<Label> wanted;
    const int each = this->each(m_layout.rows());
    for (int row = 0; row < m_layout.rows(); row += each) {
        const double middle = middleOf(row);
        const Row& one = m_picture.rows[static_cast<std::size_t>(row)];
        wanted.push_back({ row, middle, middle, {}, m_picture.gradeOf(one.rank) });
        texts.push_back(m_picture.axes == HeatAxes::RankByStep
                ? one.withMicro(QCoreApplication::translate("HeatGutter", "rank %1").arg(one.rank.value))
                : one.label);
    }
    place(std::move(wanted), texts);
}

void HeatGutter::addBands()
{
    std::vector<QString> texts;
    std::vector<Label> wanted;
    std::vector<RowLayout::Band> named = m_layout.bands();
    std::erase_if(named, [](const RowLayout::Band& band) { return band.label.isEmpty(); });
    const auto each = static_cast<std::size_t>(this->each(static_cast<int>(named.size())));
    for (std::size_t i = 0; i < named.size(); i += each) {
        const double middle = m_plot.top() + (named[i].top + named[i].bottom) / 2.0;
        wanted.push_back({ -1, middle, middle, {} });
        texts.push_back(named[i].label);
    }
    place(std::move(wanted), texts);
}

int HeatGutter::each(int wanted) const
{
    const int most = 1 + std::max(highest() - lowest(), 0) / kRowLabelHeight;
    return std::max(1, (wanted + most - 1) / most);
}

void HeatGutter::place(std::vector<Label> wanted, const std::vector<QString>& texts)
{
    const std::vector<QString> fitted = fitLabels(texts, QFontMetricsF(codeFont(11)), labelWidth(m_plot));
    std::vector<double> middles;
    middles.reserve(wanted.size());
    for (const Label& label : wanted)
        middles.push_back(label.middle);
    const auto places = placeLabels(middles, kRowLabelHeight, lowest(), highest(), kMostShift);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!places[i])
            continue;
        wanted[i].place = *places[i];
        wanted[i].text = fitted[i];
        m_labels.push_back(std::move(wanted[i]));
    }
}

std::vector<HeatGutter::Label> HeatGutter::labelsWith(int selected) const
{
    if (selected < 0 || m_labels.empty() || m_labels.front().row >= 0)
        return m_labels;
    const double middle = middleOf(selected);
    std::vector<Label> labels = m_labels;
    for (const RowLayout::Band& band : m_layout.bands()) {
        const double own = m_plot.top() + (band.top + band.bottom) / 2.0;
        if (band.firstRow <= selected && selected <= band.lastRow && std::abs(own - middle) < kRowLabelHeight)
            std::erase_if(labels, [own](const Label& label) { return label.middle == own; });
    }
    const auto next = std::ranges::find_if(labels, [middle](const Label& label) { return label.middle > middle; });
    labels.insert(next, { selected, middle, middle, {} });
    std::vector<double> middles;
    middles.reserve(labels.size());
    for (const Label& label : labels)
        middles.push_back(label.middle);
    const auto places = placeLabels(middles, kRowLabelHeight, lowest(), highest(), kMostShift);
    if (!std::ranges::all_of(places, [](const auto& place) { return place.has_value(); }))
        return m_labels;
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i].place = *places[i];
    return labels;
}

void HeatGutter::paint(QPainter& painter, const Theme& theme, int selected) const
{
    const double edge = m_plot.left() - kEdge;
    const double middle = selected < 0 ? -1e9 : middleOf(selected);
    double named = middle; // where its name stands
    const std::vector<Label> labels = labelsWith(selected);
    QString name; // as it reads where it is not selected
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (const RowLayout::Band& band : m_layout.bands()) {
        if (!band.label.isEmpty())
            painter.fillRect(
                QRectF(edge, m_plot.top() + band.top, 1, std::max(1, band.bottom - band.top)), theme.border);
    }
    painter.setFont(codeFont(11));
    const auto lead = [&](double from, double to) {
        if (std::abs(from - to) < 3)
            return;
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(theme.strong, 1));
        painter.drawLine(QPointF(edge - 4.5, from), QPointF(edge - 0.5, to));
        painter.setRenderHint(QPainter::Antialiasing, false);
    };
    for (const Label& label : labels) {
        if (label.row != selected || selected < 0)
            continue;
        name = label.text;
        named = name.isEmpty() ? label.place : middle; // between groups, or in place of a row's
    }
    for (const Label& label : labels) {
        // A label that would peep out from behind goes as a whole.
        if (std::abs(label.place - named) < kRowLabelHeight)
            continue;
        painter.setPen(theme.text2);
        const QRectF box(m_plot.left() - kEdge - 6 - labelWidth(m_plot), label.place - 8, labelWidth(m_plot), 16);
        painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter, label.text);
        if (m_picture.axes == HeatAxes::RankByStep)
            paintRankMark(painter,
                QPointF(box.right() - painter.fontMetrics().horizontalAdvance(label.text) - 9, label.place),
                label.grade, theme);
        lead(label.place, label.middle);
    }
    if (selected >= 0) {
        const QFont font = codeFont(11, 600);
        const QFontMetricsF metrics(font);
        const QString& whole = m_picture.rows[static_cast<std::size_t>(selected)].label;
        const double room = m_plot.left() - kEdge - 6;
        if (name.isEmpty())
            name = fitLabels({ whole }, metrics, labelWidth(m_plot)).front();
        // Cut between its parts it may have lost all but the last, as others have it: letters before that tell more.
        if (name != whole && !name.contains(u'.'))
            name = metrics.elidedText(whole, Qt::ElideLeft, room - 2);
        painter.setFont(font);
        painter.setPen(theme.text);
        painter.drawText(QRectF(0, named - 8, m_plot.left() - kEdge - 6, 16), Qt::AlignRight | Qt::AlignVCenter, name);
        lead(named, middle);
    }
    painter.restore();
}

}
