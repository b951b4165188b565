// SPDX-License-Identifier: GPL-3.0-or-later
#include "runbutton.h"

#include <algorithm>

#include <QPainter>

#include <telltale/common/theme.h>
#include <telltale/runs/stateglyph.h>

#include "keychip.h"

namespace telltale::shell {

using views::Theme;

namespace {

constexpr int kGlyph = 28;
constexpr int kBesideWords = kGlyph + 26;
constexpr int kRounded = 2; ///< px by which a whole width is less than the words take

void paintField(QPainter& painter, const QAbstractButton& button, const QColor& fill)
{
    const Theme& theme = Theme::current();
    painter.setRenderHint(QPainter::Antialiasing);
    const bool focused = button.hasFocus();
    painter.setPen(QPen(focused ? theme.accent : theme.controlBorder, focused ? 2 : 1));
    painter.setBrush(button.underMouse() ? theme.hover : fill);
    const double inset = focused ? 1 : 0.5;
    painter.drawRoundedRect(QRectF(button.rect()).adjusted(inset, inset, -inset, -inset), 4, 4);
}

}

RunButton::RunButton(QWidget* parent)
    : QAbstractButton(parent)
{
    setObjectName(QStringLiteral("runButton"));
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setToolTip(tr("Choose a run"));
    setAttribute(Qt::WA_Hover);
    clearRun();
}

void RunButton::setRun(const QString& name, store::RunState state)
{
    m_hasRun = true;
    m_state = state;
    setText(name);
    setProperty("telltaleData", true);
    updateGeometry();
    setAccessibleName(tr("Run %1, %2").arg(name, views::runStateText(state)));
    update();
}

void RunButton::clearRun()
{
    m_hasRun = false;
    setText(tr("No run"));
    setProperty("telltaleData", false);
    setAccessibleName(tr("No run"));
    updateGeometry();
    update();
}

QSize RunButton::sizeHint() const
{
    const int words = QFontMetrics(views::wordsFont(13, 600)).horizontalAdvance(text());
    return { std::clamp(words + kRounded + kBesideWords, 186, 360), 28 };
}

void RunButton::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    paintField(painter, *this, theme.raised);
    const QRectF glyph(8, (height() - 16) / 2.0, 16, 16);
    if (m_hasRun) {
        views::paintRunState(&painter, glyph, m_state);
    } else {
        painter.setPen(QPen(theme.text3, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(glyph.center(), 5, 5);
    }
    painter.setFont(views::wordsFont(13, m_hasRun ? 600 : 400));
    painter.setPen(m_hasRun ? theme.text : theme.text3);
    const QRect words = rect().adjusted(kGlyph, 0, kGlyph - kBesideWords, 0);
    painter.drawText(words, static_cast<int>(Qt::AlignVCenter),
        painter.fontMetrics().elidedText(text(), Qt::ElideRight, words.width()));
    painter.setPen(QPen(theme.text2, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF c(width() - 14, height() / 2.0);
    const QPointF chevron[] = { c + QPointF(-3.5, -1.75), c + QPointF(0, 1.75), c + QPointF(3.5, -1.75) };
    painter.drawPolyline(chevron, 3);
}

PaletteButton::PaletteButton(QWidget* parent)
    : QAbstractButton(parent)
{
    setObjectName(QStringLiteral("paletteButton"));
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setMaximumWidth(276);
    setText(tr("Go to module, step or command"));
    setAccessibleName(text());
    setToolTip(tr("Go to module, step or command (Ctrl+K)"));
    setAttribute(Qt::WA_Hover);
}

void PaletteButton::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    paintField(painter, *this, theme.base);
    views::icon(QStringLiteral("search")).paint(&painter, QRect(8, (height() - 16) / 2, 16, 16));
    const QString key = QStringLiteral("Ctrl+K");
    const int chip = KeyChip::widthOf(key);
    const QRect words = rect().adjusted(30, 0, -chip - 14, 0);
    painter.setFont(views::wordsFont(12));
    painter.setPen(theme.text3);
    const bool hasRoom = painter.fontMetrics().horizontalAdvance(text()) <= words.width();
    painter.drawText(words, static_cast<int>(Qt::AlignVCenter),
        painter.fontMetrics().elidedText(hasRoom ? text() : tr("Go to..."), Qt::ElideRight, words.width()));
    KeyChip::paint(&painter, QRectF(width() - chip - 7, (height() - 18) / 2.0, chip, 18), key);
}

}
