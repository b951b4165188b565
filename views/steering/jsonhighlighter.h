// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSyntaxHighlighter>

class QPlainTextEdit;

namespace telltale::views {

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
