// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QSyntaxHighlighter>

class QPlainTextEdit;

namespace telltale::views {

struct Theme;

/// The colors of words and strings in code.
QColor codeWordColor(const Theme& theme);
QColor codeTextColor(const Theme& theme);

/// Names, strings, words and comments of an editor's text in the theme's colors.
class JsonHighlighter : public QSyntaxHighlighter {
    Q_OBJECT
public:
    explicit JsonHighlighter(QPlainTextEdit* editor);

    bool eventFilter(QObject* watched, QEvent* event) override;

protected:
    void highlightBlock(const QString& text) override;
};

}
