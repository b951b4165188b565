// SPDX-License-Identifier: GPL-3.0-or-later
#include "taborder.h"

#include <QWidget>

namespace telltale::views {

void tabFrom(QWidget* first, const QWidget* parts)
{
    QWidget* last = first;
    for (QWidget* part : parts->findChildren<QWidget*>()) {
        // The list of a combo box is a window of its own.
        const bool isStop = (part->focusPolicy() & Qt::TabFocus) != 0 && part->window() == first->window();
        if (!isStop || part == first || first->isAncestorOf(part))
            continue;
        QWidget::setTabOrder(last, part);
        last = part;
    }
}

}
