// SPDX-License-Identifier: GPL-3.0-or-later
#include "rolelabel.h"

#include <QEvent>

namespace telltale::views {

RoleLabel::RoleLabel(Colour colour, const QFont& font, QWidget* parent)
    : QLabel(parent)
    , m_colour(colour)
{
    setFont(font);
    setTextFormat(Qt::PlainText);
    recolour();
}

RoleLabel::RoleLabel(const QString& text, Colour colour, const QFont& font, QWidget* parent)
    : RoleLabel(colour, font, parent)
{
    setText(text);
}

void RoleLabel::setColour(Colour colour)
{
    m_colour = colour;
    recolour();
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
        recolour();
}

void RoleLabel::recolour()
{
    const QColor& wanted = Theme::current().*m_colour;
    if (palette().color(QPalette::WindowText) == wanted)
        return; // ends the recursion through PaletteChange
    QPalette own = palette();
    own.setColor(QPalette::WindowText, wanted);
    own.setColor(QPalette::Text, wanted);
    setPalette(own);
}

}
