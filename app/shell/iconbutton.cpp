// SPDX-License-Identifier: GPL-3.0-or-later
#include "iconbutton.h"

#include <QAction>
#include <QToolButton>

namespace telltale::shell {

QToolButton* iconButton(QAction* action, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setDefaultAction(action);
    button->setToolButtonStyle(Qt::ToolButtonIconOnly);
    button->setAutoRaise(true);
    button->setIconSize({ 16, 16 });
    button->setFixedSize(26, 26);
    button->setAccessibleName(action->toolTip());
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

}
