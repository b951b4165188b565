// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <telltale/common/theme.h>
#include <telltale/settings/settingsfile.h>

class QApplication;

namespace telltale::shell {

/// <data dir>/desktop.json
QString settingsPath(const std::string& dataDir);

/// Reads the settings and gives the application its language, theme and fonts; call before any widget is made. A
/// settings file that cannot be read gives defaults and a note. Thread: gui.
settings::LoadedSettings prepareApplication(QApplication& app, const std::string& dataDir);

/// "dark", "light" or "system" (what the palette at start said).
void applyTheme(QApplication& app, const QString& theme);

}
