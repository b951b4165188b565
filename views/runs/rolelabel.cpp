// SPDX-License-Identifier: GPL-3.0-or-later
#include "rolelabel.h"

#include <QEvent>

namespace telltale::views {

RoleLabel::RoleLabel(Color color, const QFont& font, QWidget* parent)
    : QLabel(parent)
    , m_color(color)
{
    setFont(font);
    setTextFormat(Qt::PlainText);
    recolor();
}

RoleLabel::RoleLabel(const QString& text, Color color, const QFont& font, QWidget* parent)
    : RoleLabel(color, font, parent)
{
    setText(text);
}

void RoleLabel::setColor(Color color)
{
    m_color = color;
    recolor();
}

RoleLabel* RoleLabel::asData()
{
    setProperty("telltaleData", true);
    return this;
}

void RoleLabel::changeEvent(QEvent* event)
{
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
        recolor();
}

void RoleLabel::recolor()
{
    const QColor& wanted = Theme::current().*m_color;
    if (palette().color(QPalette::WindowText) == wanted)
        return; // ends the recursion through PaletteChange
    QPalette own = palette();
    own.setColor(QPalette::WindowText, wanted);
    own.setColor(QPalette::Text, wanted);
    setPalette(own);
}

}
