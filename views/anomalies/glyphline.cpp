// SPDX-License-Identifier: GPL-3.0-or-later
#include "glyphline.h"

#include <algorithm>
#include <cmath>

#include <QHBoxLayout>
#include <QPainter>

#include <telltale/runs/rolelabel.h>

namespace telltale::views {

GlyphLine::GlyphLine(const QFont& font, QWidget* parent)
    : QWidget(parent)
    , m_label(new RoleLabel(&Theme::text, font, this))
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(kIndent, 0, 0, 0);
    layout->addWidget(m_label);
}

void GlyphLine::set(glyphs::Severity severity, const QString& text)
{
    m_severity = severity;
    m_label->setText(text);
    update();
}

void GlyphLine::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    // Lines of Chinese words are taller than their font says.
    const double least = QFontMetricsF(m_label->font()).height();
    const double line = m_label->height() / std::max(1.0, std::floor(m_label->height() / least + 0.1));
    glyphs::paintSeverity(painter, QPointF(6, m_label->y() + line / 2), 10, m_severity, Theme::current());
}

}
