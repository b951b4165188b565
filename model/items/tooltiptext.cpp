// SPDX-License-Identifier: GPL-3.0-or-later
#include "tooltiptext.h"

#include <QStringList>

#include <telltale/core/plaintext.h>

namespace telltale::items {

QString lineText(const QString& plain)
{
    return QString::fromStdString(terminalText(plain.toStdString()));
}

QString toolTipText(const QString& plain)
{
    // Qt takes a text with a tag for HTML. Escaping alone would show "&lt;" where there is none, so it is always HTML.
    QStringList lines = plain.toHtmlEscaped().split(u'\n');
    for (QString& line : lines)
        line = lineText(line).replace(QChar(0x202F), QChar(0x00A0)); // at which Qt breaks lines, amid a number
    const QString html = lines.join(QStringLiteral("<br>"));
    return html.isEmpty() ? html : QStringLiteral("<qt>") + html + QStringLiteral("</qt>");
}

}
