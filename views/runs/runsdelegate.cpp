// SPDX-License-Identifier: GPL-3.0-or-later
#include "runsdelegate.h"

#include <QPainter>

#include <telltale/common/runicon.h>
#include <telltale/common/theme.h>
#include <telltale/items/runsmodel.h>

#include "paneltree.h"
#include "runsfilter.h"
#include "stateglyph.h"

namespace telltale::views {

namespace {
constexpr int kLine = 14; ///< px of a compared run's, left of its state
}

QString RunsDelegate::fittedName(const QString& titled, const QString& name, const QFontMetrics& metrics, int width)
{
    // Two letters of an id tell runs of one name apart; fewer leave the name the room.
    const bool tellsId = metrics.horizontalAdvance(titled.left(name.size() + 4) + QStringLiteral("\u2026")) <= width;
    return metrics.elidedText(tellsId ? titled : name, Qt::ElideRight, width);
}

void RunsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const Theme& theme = Theme::current();
    const auto* tree = qobject_cast<const PanelTree*>(option.widget);
    const bool heading = index.data(items::IsGroupRole).toBool();
    if (tree && tree->isFilled(index))
        painter->fillRect(option.rect, theme.selection);
    else if (option.state.testFlag(QStyle::State_MouseOver))
        painter->fillRect(option.rect, theme.hover);

    painter->save();
    QRect text = option.rect.adjusted(4, 0, -8, 0);
    const QString shown = index.data().toString();
    if (heading) {
        painter->setFont(wordsFont(12));
        painter->setPen(theme.text2);
        painter->drawText(text, static_cast<int>(Qt::AlignVCenter), shown);
        if (index.column() == items::RunsModel::NameColumn) {
            text.setLeft(text.left() + painter->fontMetrics().horizontalAdvance(shown) + 6);
            painter->setFont(numberFont(12));
            painter->setPen(theme.text3);
            painter->drawText(text, static_cast<int>(Qt::AlignVCenter), index.data(items::CountRole).toString());
        }
    } else if (index.column() == items::RunsModel::NameColumn) {
        const QRectF glyph(text.left(), text.top() + (text.height() - 16) / 2.0, 16, 16);
        paintRunState(painter, glyph, static_cast<store::RunState>(index.data(items::StateRole).toInt()),
            index.data(items::SeverityRole).toInt());
        text.setLeft(text.left() + 22);
        text.setRight(option.rect.right()); // what stands beside it is at the right of its column
        if (const int place = index.data(RunsFilter::kComparedRole).toInt(); place >= 0) {
            // Beside the row, where a name loses nothing, and as in a plot: on the fill of a selected row some of the
            // colors would hardly be seen.
            const QRect line(option.rect.left() - kLine - 1, text.top() + 3, kLine, text.height() - 6);
            painter->fillRect(line.adjusted(-2, 0, 2, 0), theme.base);
            runIcon(static_cast<std::size_t>(place)).paint(painter, line);
        }
        painter->setFont(wordsFont(12));
        painter->setPen(theme.text);
        painter->drawText(text, static_cast<int>(Qt::AlignVCenter),
            fittedName(shown, index.data(Qt::EditRole).toString(), painter->fontMetrics(), text.width()));
    } else {
        painter->setFont(numberFont(12));
        painter->setPen(theme.text);
        painter->drawText(text, static_cast<int>(Qt::AlignVCenter | Qt::AlignRight),
            painter->fontMetrics().elidedText(shown, Qt::ElideRight, text.width()));
    }
    painter->restore();
}

QSize RunsDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    return { QStyledItemDelegate::sizeHint(option, index).width(), 22 };
}

}
