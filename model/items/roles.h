// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qt>

namespace telltale::items {

/// Raw values for delegates and panels, so that nobody parses a displayed string. One list for all models of this
/// folder. Thread: any.
enum Role {
    KeyRole = Qt::UserRole + 1, ///< QString: run id, module path, agent id
    StateRole, ///< int: store::RunState
    IsGroupRole, ///< bool: a heading such as "Live", or an inner node of the module tree
    WorstRole, ///< items::WorstValue
    SeverityRole, ///< int: how loud a row is: 0 quiet, 1 warning, 2 critical
    CountRole, ///< int: rows below a heading
    SortRole, ///< what a column sorts by
    HeadingRole, ///< QString: a heading in every language
    PinnedRole, ///< bool: a run that no rule removes
};

}
