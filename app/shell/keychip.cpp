// SPDX-License-Identifier: GPL-3.0-or-later
#include "keychip.h"

#include <algorithm>
#include <utility>

#include <QFontMetrics>
#include <QPainter>

#include <telltale/common/theme.h>

namespace telltale::shell {

using views::Theme;

namespace {

constexpr int kChipHeight = 16;
constexpr int kGap = 6;

}

KeyChip::KeyChip(const QString& key, const QString& meaning, QWidget* parent)
    : QWidget(parent)
    , m_key(key)
    , m_meaning(meaning)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("%1: %2").arg(key, meaning));
}

QString KeyChip::textOf(const QKeySequence& keys)
{
    QString text = keys.toString(QKeySequence::NativeText);
    for (const auto& [key, arrow] : { std::pair { Qt::Key_Left, u'\u2190' }, { Qt::Key_Up, u'\u2191' },
             { Qt::Key_Right, u'\u2192' }, { Qt::Key_Down, u'\u2193' } }) {
        const QString word = QKeySequence(key).toString(QKeySequence::NativeText);
        if (text == word || text.endsWith(u'+' + word)) // "PgUp" is another key
            return text.chopped(word.size()) + arrow;
    }
    return text;
}

int KeyChip::widthOf(const QString& key)
{
    return std::max(18, QFontMetrics(views::wordsFont(11)).horizontalAdvance(key) + 10);
}

void KeyChip::paint(QPainter* painter, const QRectF& rect, const QString& key)
{
    const Theme& theme = Theme::current();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(theme.controlBorder, 1));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter->setFont(views::wordsFont(11));
    painter->setPen(theme.text2);
    painter->drawText(rect, static_cast<int>(Qt::AlignCenter), key);
    painter->restore();
}

QSize KeyChip::sizeHint() const
{
    const int words = m_meaning.isEmpty() ? 0 : kGap + QFontMetrics(views::wordsFont(11)).horizontalAdvance(m_meaning);
    return { widthOf(m_key) + words, kChipHeight + 2 };
}

void KeyChip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const int chip = widthOf(m_key);
    paint(&painter, QRectF(0, (height() - kChipHeight) / 2.0, chip, kChipHeight), m_key);
    painter.setFont(views::wordsFont(11));
    painter.setPen(Theme::current().text3);
    painter.drawText(rect().adjusted(chip + kGap, 0, 0, 0), static_cast<int>(Qt::AlignVCenter), m_meaning);
}

}
