// SPDX-License-Identifier: GPL-3.0-or-later
#include "keyssheet.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QScreen>
#include <QScrollArea>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/runs/rolelabel.h>

#include "commandregistry.h"
#include "keychip.h"

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

KeysSheet::KeysSheet(const CommandRegistry& commands, QWidget* parent)
    : QDialog(parent)
{
    setObjectName(QStringLiteral("keysSheet"));
    setWindowTitle(tr("Keys"));
    auto* content = new QWidget;
    auto* columns = new QHBoxLayout(content);
    columns->setContentsMargins(20, 20, 20, 20);
    columns->setSpacing(40);
    QVBoxLayout* column = nullptr;
    QGridLayout* grid = nullptr;
    QString group;
    int row = 0;
    int sinceColumn = 0;
    for (const CommandRegistry::Entry& entry : commands.all()) {
        if (entry.command.shortcut.isEmpty())
            continue;
        if (entry.command.menu != group) {
            group = entry.command.menu;
            if (!column || sinceColumn > 9) {
                if (column)
                    column->addStretch();
                column = new QVBoxLayout;
                column->setSpacing(6);
                columns->addLayout(column);
                sinceColumn = 0;
            }
            column->addWidget(
                new RoleLabel(CommandRegistry::plain(group), &Theme::text2, views::wordsFont(11, 600), this));
            grid = new QGridLayout;
            grid->setHorizontalSpacing(20);
            grid->setVerticalSpacing(6);
            column->addLayout(grid);
            column->addSpacing(12);
            row = 0;
        }
        grid->addWidget(new RoleLabel(entry.words(), &Theme::text, views::wordsFont(12), this), row, 0);
        grid->addWidget(
            new KeyChip(entry.command.shortcut.toString(QKeySequence::NativeText), {}, this), row, 1, Qt::AlignRight);
        grid->setColumnStretch(0, 1);
        ++row;
        ++sinceColumn;
    }
    if (column)
        column->addStretch();
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(content);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSizeConstraint(QLayout::SetNoConstraint); // the offscreen platform warns about size hints of a window
    layout->addWidget(scroll);
    constexpr QSize kFrame(40, 80); // of the screen stays free
    const QSize beside(style()->pixelMetric(QStyle::PM_ScrollBarExtent), 0);
    resize((content->sizeHint() + beside).boundedTo(screen()->availableGeometry().size() - kFrame));
}

}
