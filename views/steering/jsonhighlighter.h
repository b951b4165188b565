// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QColor>
#include <QSyntaxHighlighter>

class QPlainTextEdit;
class QRegularExpression;

namespace telltale::views {

struct Theme;

/// The colors of words and strings in code.
QColor codeWordColor(const Theme& theme);
QColor codeTextColor(const Theme& theme);
/// Tells each part of a text that `token` finds, with the color of that of its groups which it is: text, comment, word
/// or, where the code has any, name.
void colorCode(const QRegularExpression& token, const QString& text,
    const std::function<void(qsizetype from, qsizetype length, const QColor& color)>& take);

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
