// SPDX-License-Identifier: GPL-3.0-or-later
#include "tooltiptext.h"

namespace telltale::items {

QString toolTipText(const QString& plain)
{
    // Qt takes a text with a tag for HTML. Escaping alone would show "&lt;" where there is none, so it is always HTML.
    QString html = plain.toHtmlEscaped();
    html.replace(u'\n', QStringLiteral("<br>"));
    return html.isEmpty() ? html : QStringLiteral("<qt>") + html + QStringLiteral("</qt>");
}

}
