// SPDX-License-Identifier: GPL-3.0-or-later
#include "changestree.h"

#include <algorithm>

#include <QHeaderView>
#include <QPainter>

#include <telltale/common/columnfit.h>
#include <telltale/common/readout.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/incidentwords.h>
#include <telltale/items/ruletitles.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::views {
namespace {

constexpr std::size_t kMostRows = 500;
constexpr int kRunRole = Qt::UserRole;
constexpr int kStepRole = Qt::UserRole + 1;

}

ChangesTree::ChangesTree(QWidget* parent)
    : QTreeWidget(parent)
{
    setObjectName(QStringLiteral("labChanges"));
    setAccessibleName(tr("Incidents that appear or vanish"));
    setColumnCount(ColumnCount);
    setHeaderLabels({ tr("Change"), tr("Run"), tr("Step"), tr("Rank"), tr("Place"), tr("Rule") });
    setFrameShape(QFrame::NoFrame);
    setRootIsDecorated(false);
    setIndentation(0);
    setUniformRowHeights(true);
    setFont(wordsFont(12));
    header()->setFont(wordsFont(11));
    header()->setFixedHeight(22);
    header()->setMinimumSectionSize(40);
    header()->setStretchLastSection(false);
    for (const int column : { RunColumn, PlaceColumn })
        setItemDelegateForColumn(column, new EndDelegate(this));
    const int widths[] = { 72, 88, 56, 46, 120, 76 };
    int width = 12;
    for (int column = 0; column < ColumnCount; ++column) {
        header()->resizeSection(column, std::max(widths[column], header()->sectionSizeHint(column)));
        width += column == PlaceColumn ? header()->sectionSizeHint(column) : header()->sectionSize(column);
    }
    setMinimumWidth(width);
    for (const int column : { StepColumn, RankColumn })
        headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    connect(this, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
        if (const QString run = item->data(0, kRunRole).toString(); !run.isEmpty())
            Q_EMIT goWanted(run, Step { item->data(0, kStepRole).toLongLong() });
    });
}

void ChangesTree::resizeEvent(QResizeEvent* event)
{
    QTreeWidget::resizeEvent(event);
    fitColumns();
}

/// As wide as their words; where there is little room all names give, the rule first, and the place gets what is left.
void ChangesTree::fitColumns()
{
    views::fitColumns(*this, PlaceColumn,
        { { RuleColumn, 90 }, { PlaceColumn, 130 }, { RunColumn, 60 }, { PlaceColumn, 60 }, { RuleColumn, 60 } });
}

QString ChangesTree::emptyText() const
{
    return m_isTried ? tr("The rules that are tried find the same as those in force.") : QString();
}

void ChangesTree::setTried(bool on)
{
    m_isTried = on;
    viewport()->update();
}

void ChangesTree::paintEvent(QPaintEvent* event)
{
    QTreeWidget::paintEvent(event);
    if (topLevelItemCount() > 0)
        return;
    QPainter painter(viewport());
    paintEmptyState(painter, viewport()->rect(), emptyText(), Theme::current());
}

void ChangesTree::set(const std::vector<Row>& rows)
{
    items::assertGuiThread();
    clear();
    QList<QTreeWidgetItem*> items;
    for (const Row& row : rows) {
        if (static_cast<std::size_t>(items.size()) == kMostRows) {
            items.append(new QTreeWidgetItem({ tr("%n more", nullptr, static_cast<int>(rows.size() - kMostRows)) }));
            break;
        }
        const judge::Finding& first = row.incident.first;
        auto* item = new QTreeWidgetItem({ row.appears ? tr("appears") : tr("vanishes"), row.run,
            formatStep(first.step.value), first.rank.value < 0 ? QString() : QString::number(first.rank.value),
            items::IncidentsModel::placeOf(row.incident), items::ruleTitle(first.rule) });
        item->setData(0, kRunRole, row.runId);
        item->setData(0, kStepRole, static_cast<qlonglong>(first.step.value));
        item->setData(ChangeColumn, kThemeColorRole, QVariant::fromValue(row.appears ? &Theme::warnText : &Theme::ok));
        item->setFont(PlaceColumn, codeFont(12));
        for (const int column : { StepColumn, RankColumn }) {
            item->setFont(column, numberFont(12));
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        }
        const QString sentence = items::toolTipText(items::incidentwords::card(row.incident));
        for (int column = 0; column < ColumnCount; ++column)
            item->setToolTip(column, sentence);
        for (const int column : { RunColumn, PlaceColumn, RuleColumn }) // which may be cut
            item->setToolTip(
                column, items::toolTipText(item->text(column) + u'\n' + items::incidentwords::card(row.incident)));
        items.append(item);
    }
    addTopLevelItems(items);
    header()->setVisible(!items.empty());
    fitColumns();
}

}
