// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

namespace telltale::shell {

class CommandRegistry;

/// F1: every command that has a key, by menu, and the mouse's part.
class KeysSheet : public QDialog {
    Q_OBJECT
public:
    KeysSheet(const CommandRegistry& commands, QWidget* parent);
};

}
