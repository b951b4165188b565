// SPDX-License-Identifier: GPL-3.0-or-later
#include "oneedit.h"

#include <algorithm>

#include <QPlainTextEdit>

namespace telltale::views {

void makeText(QPlainTextEdit& editor, const QString& text)
{
    const QString old = editor.toPlainText();
    const auto shorter = std::min(old.size(), text.size());
    qsizetype head = 0;
    while (head < shorter && old[head] == text[head])
        ++head;
    qsizetype tail = 0;
    while (tail < shorter - head && old[old.size() - 1 - tail] == text[text.size() - 1 - tail])
        ++tail;
    QTextCursor cursor(editor.document());
    cursor.setPosition(static_cast<int>(head));
    cursor.setPosition(static_cast<int>(old.size() - tail), QTextCursor::KeepAnchor);
    cursor.insertText(text.mid(head, text.size() - tail - head));
}

}
