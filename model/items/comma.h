// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

namespace telltale::items {

/// What stands between the parts of a list of words, in the language of the window. Thread: any (constant).
inline QString comma()
{
    return QCoreApplication::translate("Words", ", ", "between the parts of a list");
}

}
