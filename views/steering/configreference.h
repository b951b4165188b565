// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace telltale::views {

/// What the groups of fields are called, in the order of config::Field::Group.
QStringList fieldGroupTitles();
/// Every field of config.json in Markdown, in the language of the installed translation: what it may hold, its default,
/// what it is for.
QString configReference();

}
