// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <iterator>

#include <QKeyEvent>

namespace telltale::views {

/// The window's own keys go through the run; who has the focus in a number means the number.
inline bool takesKey(const QEvent& event)
{
    constexpr Qt::Key kOwn[] { Qt::Key_Return, Qt::Key_Enter, Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down,
        Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_Home, Qt::Key_End };
    return event.type() == QEvent::ShortcutOverride
        && std::find(std::begin(kOwn), std::end(kOwn), static_cast<const QKeyEvent&>(event).key()) != std::end(kOwn);
}

}
