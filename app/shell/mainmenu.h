// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenuBar>

#include "windowparts.h"

namespace telltale::shell {

/// The menus of the window: all of its commands, the layouts that the user has kept, theme and language. Thread: gui.
class MainMenu : public QMenuBar {
    Q_OBJECT
public:
    MainMenu(WindowParts* parts, QWidget* parent);

    void fill(); ///< when all commands are known

private:
    void addChoices(QMenu* menu);
    void addSavedLayouts(QMenu* menu);
    void setTheme(const QString& theme);
    void setLanguage(const QString& language);

    WindowParts* m_parts;
};

}
