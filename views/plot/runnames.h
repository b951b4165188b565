// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace telltale::views {

class ViewState;

/// Whole names of the run that is shown and of those it is compared with, in their order. Thread: gui.
QStringList runNames(const ViewState& state);
/// As legends call them, which have little room: "#b878f8f3" of "demo-gpt #b878f8f3" where the name before it is that
/// of all; else as they are. Thread: any.
QStringList briefRunNames(const QStringList& names);

}
