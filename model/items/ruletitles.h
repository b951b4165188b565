// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

#include <QString>

namespace telltale::items {

/// A title or a description of the table of rules, in the language of the window. Thread: gui.
QString ruleText(std::string_view sentence);
/// The title of a rule by its word; the word itself where it is of a later version.
QString ruleTitle(std::string_view id);

}
