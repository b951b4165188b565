// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

namespace telltale::items {

/// One sentence after another, in the language of the window. Thread: any (constant).
inline QString sentences(const QString& first, const QString& next)
{
    return QCoreApplication::translate("Words", "%1 %2", "two sentences").arg(first, next);
}

/// What stands between the parts of a list of words, in the language of the window. Thread: any (constant).
inline QString comma()
{
    return QCoreApplication::translate("Words", ", ", "between the parts of a list");
}

/// The same between parts that are sentences.
inline QString semicolon()
{
    return QCoreApplication::translate("Words", "; ", "between the parts of a list");
}

}
