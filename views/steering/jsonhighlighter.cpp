// SPDX-License-Identifier: GPL-3.0-or-later
#include "jsonhighlighter.h"

#include <QEvent>
#include <QPlainTextEdit>
#include <QRegularExpression>

#include <telltale/common/theme.h>

namespace telltale::views {

QColor codeWordColor(const Theme& theme)
{
    return theme.mode == Theme::Mode::Dark ? QColor(0x8E, 0xC7, 0xFF) : QColor(0x14, 0x63, 0xC4);
}

QColor codeTextColor(const Theme& theme)
{
    return theme.mode == Theme::Mode::Dark ? QColor(0xBD, 0xE3, 0xB4) : QColor(0x0E, 0x75, 0x48);
}

void colorCode(const QRegularExpression& token, const QString& text,
    const std::function<void(qsizetype from, qsizetype length, const QColor& color)>& take)
{
    const Theme& theme = Theme::current();
    for (auto found = token.globalMatch(text); found.hasNext();) {
        const auto match = found.next();
        const QColor color = match.hasCaptured(QStringLiteral("text")) ? codeTextColor(theme)
            : match.hasCaptured(QStringLiteral("comment"))             ? theme.text3
            : match.hasCaptured(QStringLiteral("word"))                ? codeWordColor(theme)
                                                                       : theme.text;
        take(match.capturedStart(), match.capturedLength(), color);
    }
}

JsonHighlighter::JsonHighlighter(QPlainTextEdit* editor)
    : QSyntaxHighlighter(editor->document())
{
    editor->installEventFilter(this);
}

bool JsonHighlighter::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::StyleChange) // of another theme
        rehighlight();
    return QSyntaxHighlighter::eventFilter(watched, event);
}

void JsonHighlighter::highlightBlock(const QString& text)
{
    static const QRegularExpression token(QStringLiteral(
        R"re((?<name>"(?:\\.|[^"\\])*"(?=\s*:))|(?<text>"(?:\\.|[^"\\])*")|(?<comment>//.*)|(?<word>[-+.\w]+))re"));
    colorCode(token, text, [this](qsizetype from, qsizetype length, const QColor& color) {
        setFormat(static_cast<int>(from), static_cast<int>(length), color);
    });
}

}
