// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/common/viewstate.h>
#include <telltale/settings/settings.h>

namespace telltale::shell {

// What a session remembers of the shared view state, as words. Thread: gui.

/// Kind, statistic, rank, filter, selection and run path into `settings`.
void storeState(const views::ViewState& state, settings::Settings& settings);
/// The other way, for the run that is open. Unknown words leave the state as it is.
void restoreState(const settings::Settings& settings, views::ViewState& state);

}
