// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QPlainTextEdit;
class QString;

namespace telltale::views {

/// Makes the editor's text `text` by one edit, which Ctrl+Z takes back, from the first difference to the last. Thread:
/// gui.
void makeText(QPlainTextEdit& editor, const QString& text);

}
