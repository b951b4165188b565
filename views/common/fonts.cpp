// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme.h"

namespace telltale::views {

namespace {

QFont roleFont(const QStringList& families, int px, int weight)
{
    QFont font;
    font.setFamilies(families);
    font.setPixelSize(px);
    font.setWeight(static_cast<QFont::Weight>(weight));
    return font;
}

}

QFont wordsFont(int px, int weight)
{
    static const QStringList families { QStringLiteral("Inter"), QStringLiteral("Noto Sans"),
        QStringLiteral("Noto Sans CJK SC"), QStringLiteral("DejaVu Sans") };
    return roleFont(families, px, weight);
}

QFont numberFont(int px, int weight)
{
    static const QStringList families { QStringLiteral("Roboto"), QStringLiteral("Noto Sans"),
        QStringLiteral("DejaVu Sans"), QStringLiteral("Noto Sans CJK SC") };
    return roleFont(families, px, weight);
}

QFont codeFont(int px, int weight)
{
    static const QStringList families { QStringLiteral("JetBrains Mono"), QStringLiteral("Noto Sans Mono"),
        QStringLiteral("DejaVu Sans Mono"), QStringLiteral("Noto Sans Mono CJK SC") };
    QFont font = roleFont(families, px, weight);
    font.setStyleHint(QFont::Monospace);
    font.setStyleStrategy(QFont::PreferNoShaping); // "->" is no arrow
    return font;
}

}
