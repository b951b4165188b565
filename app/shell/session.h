// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/common/viewstate.h>
#include <telltale/items/runsmodel.h>
#include <telltale/settings/settings.h>

namespace telltale::views {
class RunsPanel;
}

namespace telltale::shell {

// What a session remembers of the shared view state, as words. Thread: gui.

/// Kind, statistic, rank, filter, selection, cursor and the paths of the run and of those compared with it into
/// `settings`.
void storeState(const views::ViewState& state, settings::Settings& settings);
/// The other way, for the run that is open. Unknown words, and what the run does not have, leave the
/// state as it is.
void restoreState(const settings::Settings& settings, views::ViewState& state);

/// How the list of runs is grouped, and which of its headings are closed.
void storeList(const items::RunsModel& model, const views::RunsPanel& panel, settings::Settings& settings);
void restoreList(const settings::Settings& settings, items::RunsModel& model, views::RunsPanel& panel);

}
