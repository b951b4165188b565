// SPDX-License-Identifier: GPL-3.0-or-later
#include "answerstable.h"

#include <algorithm>

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include <telltale/common/glyphs.h>
#include <telltale/common/tableshape.h>
#include <telltale/common/theme.h>

#include "answersmodel.h"

namespace telltale::views {
namespace {

using State = RankSteering::State;

constexpr int kState = 18; ///< its shape before its word
constexpr int kInset = 12; ///< beside words
constexpr int kLeastHost = 56;
constexpr int kLeastReason = 72;

void paintState(QPainter& painter, QRect cell, State state)
{
    const QPointF center(cell.left() + 5, cell.center().y() + 0.5);
    const auto shape
        = [&](glyphs::Severity severity) { glyphs::paintSeverity(painter, center, 10, severity, Theme::current()); };
    switch (state) {
    case State::None:
        break;
    case State::Offered:
    case State::Accepted:
        icon(QStringLiteral("clock")).paint(&painter, cell.left() - 2, cell.center().y() - 6, 14, 14);
        break;
    case State::Refused:
        shape(glyphs::Severity::Critical);
        break;
    case State::Applied:
        shape(glyphs::Severity::Good);
        break;
    case State::Lost:
        shape(glyphs::Severity::Warning);
        break;
    }
}

class AnswerDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        const auto state = static_cast<State>(index.data(AnswersModel::StateRole).toInt());
        const bool isSelected = option.state.testFlag(QStyle::State_Selected);
        QColor refused = theme.criticalMark;
        refused.setAlphaF(0.12F);
        painter->save();
        if (isSelected || state == State::Refused)
            painter->fillRect(option.rect, isSelected ? theme.selection : refused);
        QRect cell = wordsOf(option.rect, index);
        if (index.column() == AnswersModel::AnswerColumn) {
            paintState(*painter, cell, state);
            cell.setLeft(cell.left() + (state == State::None ? 0 : kState));
        }
        const QVariant color = index.data(Qt::ForegroundRole);
        painter->setPen(color.isValid() && !isSelected ? color.value<QColor>() : theme.text);
        painter->setFont(index.data(Qt::FontRole).value<QFont>());
        painter->drawText(cell, index.data(Qt::TextAlignmentRole).toInt(),
            painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, cell.width()));
        painter->restore();
    }
};

}

AnswersTable::AnswersTable(AnswersModel* answers, QWidget* parent)
    : QTableView(parent)
{
    setObjectName(QStringLiteral("configAnswers"));
    setAccessibleName(tr("Answers of the ranks"));
    setModel(answers);
    setItemDelegate(new AnswerDelegate(this));
    shapeTable(this);
    horizontalHeader()->setStretchLastSection(true);
    connect(answers, &QAbstractItemModel::modelReset, this, &AnswersTable::fitColumns);
    connect(answers, &QAbstractItemModel::dataChanged, this, &AnswersTable::fitColumns);
    fitColumns();
}

void AnswersTable::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    fitColumns();
}

/// As wide as their words; where that leaves no room for a reason, a host's name gives way, and is in its tool tip.
void AnswersTable::fitColumns()
{
    int room = viewport()->width() - kLeastReason;
    for (int column = 0; column < AnswersModel::ReasonColumn; ++column) {
        const int words = sizeHintForColumn(column) + kInset + (column == AnswersModel::AnswerColumn ? kState : 0);
        const int width = std::max(words, horizontalHeader()->sectionSizeHint(column));
        setColumnWidth(column, width);
        room -= width;
    }
    const int host = columnWidth(AnswersModel::HostColumn);
    setColumnWidth(AnswersModel::HostColumn, std::max(std::min(host, kLeastHost), host + std::min(room, 0)));
}

}
