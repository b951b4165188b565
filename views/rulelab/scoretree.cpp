// SPDX-License-Identifier: GPL-3.0-or-later
#include "scoretree.h"

#include <algorithm>

#include <QHeaderView>
#include <QPainter>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/ruletitles.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/paneltree.h>

namespace telltale::views {

ScoreTree::ScoreTree(QWidget* parent)
    : QTreeWidget(parent)
{
    setObjectName(QStringLiteral("labScores"));
    setAccessibleName(tr("Results"));
    setColumnCount(ColumnCount);
    setHeaderLabels(
        { tr("Run and rule"), tr("In force"), tr("Tried"), tr("Hits"), tr("False alarms"), tr("Missed"), tr("Lead") });
    headerItem()->setToolTip(
        BeforeColumn, tr("Incidents that the rules in force find; the run's own were found by those of its time"));
    headerItem()->setToolTip(AfterColumn, tr("Incidents that the rules find that are tried"));
    headerItem()->setToolTip(HitsColumn, tr("Incidents labeled true that are found"));
    headerItem()->setToolTip(FalseColumn, tr("Incidents labeled a false alarm, or found in a clean run"));
    headerItem()->setToolTip(MissedColumn, tr("Incidents labeled true that are not found"));
    headerItem()->setToolTip(LeadColumn,
        items::toolTipText(
            tr("Steps by which hits become known before the labeled incidents did (below 0: after them); the median")));
    setFrameShape(QFrame::NoFrame);
    setUniformRowHeights(true);
    setIndentation(16);
    setFont(wordsFont(12));
    header()->setFont(wordsFont(11));
    header()->setFixedHeight(22);
    header()->setStretchLastSection(false);
    header()->setMinimumSectionSize(40);
    header()->setSectionResizeMode(NameColumn, QHeaderView::Stretch);
    int width = 0;
    for (int column = BeforeColumn; column < ColumnCount; ++column) {
        header()->setSectionResizeMode(column, QHeaderView::ResizeToContents); // names get the rest
        headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        width += std::max(header()->minimumSectionSize(), header()->sectionSizeHint(column));
    }
    setMinimumWidth(width + header()->sectionSizeHint(NameColumn) + 12);
}

void ScoreTree::drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const
{
    if (selectionModel()->isSelected(index))
        painter->fillRect(rect, Theme::current().selection);
    if (model()->hasChildren(index))
        PanelTree::paintChevron(painter, rect, isExpanded(index));
}

void ScoreTree::setEmptyText(const QString& text)
{
    m_emptyText = text;
    setAccessibleDescription(text);
    viewport()->update();
}

void ScoreTree::paintEvent(QPaintEvent* event)
{
    QTreeWidget::paintEvent(event);
    if (topLevelItemCount() > 0)
        return;
    QPainter painter(viewport());
    painter.setPen(Theme::current().text3);
    painter.setFont(wordsFont(12));
    painter.drawText(
        viewport()->rect().adjusted(24, 0, -24, 0), static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap, m_emptyText);
}

QString ScoreTree::leadText(const lab::Score& score)
{
    if (!score.lead)
        return {};
    return *score.lead > 0 ? QStringLiteral("+") + formatStep(*score.lead) : formatStep(*score.lead);
}

QTreeWidgetItem* ScoreTree::addRow(
    QTreeWidgetItem* parent, const QString& name, const lab::Score& score, bool isLabeled, bool isHead)
{
    auto* item = parent == nullptr ? new QTreeWidgetItem(this) : new QTreeWidgetItem(parent);
    item->setText(NameColumn, name);
    item->setToolTip(NameColumn, items::toolTipText(name)); // which may be cut
    item->setFont(NameColumn, wordsFont(12, isHead ? 600 : 400));
    const auto count = [&](int column, int number) {
        item->setText(column, column >= HitsColumn && !isLabeled ? QString(QChar(0x2013)) : formatStep(number));
    };
    count(BeforeColumn, score.before);
    count(AfterColumn, score.after);
    count(HitsColumn, score.hits);
    count(FalseColumn, score.falseAlarms);
    count(MissedColumn, score.missed);
    const QString lead = leadText(score);
    item->setText(LeadColumn, lead.isEmpty() ? QString(QChar(0x2013)) : lead);
    for (int column = BeforeColumn; column < ColumnCount; ++column) {
        item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        item->setFont(
            column, numberFont(12, isHead || (column == AfterColumn && score.after != score.before) ? 600 : 400));
    }
    if (score.after != score.before)
        item->setData(AfterColumn, kThemeColorRole, QVariant::fromValue(&Theme::accent));
    for (const int column : { HitsColumn, FalseColumn, MissedColumn, LeadColumn }) {
        const bool isNone = item->text(column) == QChar(0x2013);
        const bool isBad = (column == FalseColumn || column == MissedColumn) && item->text(column) != u'0';
        if (isNone || isBad)
            item->setData(column, kThemeColorRole, QVariant::fromValue(isNone ? &Theme::text3 : &Theme::warnText));
    }
    return item;
}

void ScoreTree::set(const std::vector<Row>& rows)
{
    items::assertGuiThread();
    clear();
    if (rows.size() > 1) {
        lab::Score all;
        bool isLabeled = false;
        for (const Row& row : rows) {
            isLabeled = isLabeled || row.isLabeled;
            const lab::Score& one = row.comparison.all;
            all.before += one.before;
            all.after += one.after;
            all.hits += one.hits;
            all.falseAlarms += one.falseAlarms;
            all.missed += one.missed;
        }
        addRow(nullptr, tr("All %n runs", nullptr, static_cast<int>(rows.size())), all, isLabeled, true);
    }
    for (const Row& row : rows) {
        if (!row.trouble.isEmpty()) {
            auto* item = new QTreeWidgetItem(this, { row.run + QStringLiteral(": ") + row.trouble });
            item->setFirstColumnSpanned(true);
            item->setData(NameColumn, kThemeColorRole, QVariant::fromValue(&Theme::warnText));
            item->setToolTip(NameColumn, row.trouble);
            continue;
        }
        QTreeWidgetItem* run = addRow(nullptr, row.run, row.comparison.all, row.isLabeled, true);
        for (const lab::Score& score : row.comparison.rules) {
            addRow(run, items::ruleTitle(score.rule), score, row.isLabeled, false);
        }
        run->setExpanded(true);
    }
}

}
