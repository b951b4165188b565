// SPDX-License-Identifier: GPL-3.0-or-later
#include "stacktext.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QCursor>
#include <QGuiApplication>
#include <QLabel>
#include <QRegularExpression>
#include <QToolTip>
#include <QUrl>

#include <telltale/common/theme.h>

namespace telltale::views {

namespace {

/// With places to break in words that no panel is wide enough for; shorter ones stay as they are, so that a copy of
/// them is the code itself.
QString breakable(const QString& text)
{
    constexpr int kWidest = 24;
    QString broken;
    int run = 0;
    for (const QChar c : text) {
        broken += c;
        run = c.isSpace() ? 0 : run + 1;
        if (run >= kWidest || (run > kWidest / 2 && (c == u'(' || c == u',' || c == u'.' || c == u'/'))) {
            broken += QChar(0x200b);
            run = 0;
        }
    }
    return broken;
}

}

QString stackHtml(const QString& stack)
{
    if (stack.trimmed() == QLatin1String("Without call stack")) // as msprobe writes it
        return QStringLiteral("<span style=\"font-family:'%1'\">%2</span>")
            .arg(wordsFont(12).family(), // a sentence among code
                QCoreApplication::translate("telltale::views::Stack", "No line outside of libraries called it."));
    static const QRegularExpression frame(
        QStringLiteral("File ([^\\n]+), line (\\d+), in ([^\\n]+), ?\\n ([^\\n]*)(?:\\n|$)"));
    QString html;
    qsizetype from = 0;
    const auto plain = [&](qsizetype to) {
        const QString between = stack.mid(from, to - from).trimmed();
        if (!between.isEmpty())
            html += QStringLiteral("<div>%1</div>")
                        .arg(breakable(between).toHtmlEscaped().replace(u'\n', QStringLiteral("<br>")));
    };
    for (auto found = frame.globalMatch(stack); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        plain(match.capturedStart());
        from = match.capturedEnd();
        const QString path = match.captured(1);
        const QString line = match.captured(2);
        // A line that has no room goes on further in than it began.
        html += QStringLiteral("<div style='margin-left:28px; text-indent:-28px'><a href=\"copy:%1\">%2:%3</a> %4</div>"
                               "<div style='margin-left:28px; text-indent:-14px'>%5</div>")
                    .arg(QString::fromLatin1(QUrl::toPercentEncoding(path + u':' + line)),
                        breakable(path.section(u'/', -1)).toHtmlEscaped(), line, match.captured(3).toHtmlEscaped(),
                        breakable(match.captured(4).trimmed()).toHtmlEscaped());
    }
    plain(stack.size());
    return html;
}

void makeStackLabel(QLabel* label)
{
    label->setTextFormat(Qt::RichText);
    label->setTextInteractionFlags(
        Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    label->setToolTip(QCoreApplication::translate("telltale::views::Stack", "A click on a place copies it."));
    QObject::connect(label, &QLabel::linkActivated, label, [label](const QString& link) {
        const QString place = QUrl::fromPercentEncoding(link.mid(QStringLiteral("copy:").size()).toLatin1());
        QGuiApplication::clipboard()->setText(place);
        const QString said
            = QCoreApplication::translate("telltale::views::Stack", "Copied: %1").arg(place.toHtmlEscaped());
        label->setToolTip(said);
        if (label->underMouse())
            QToolTip::showText(QCursor::pos(), said, label);
    });
}

}
