// SPDX-License-Identifier: GPL-3.0-or-later
#include "welcomecard.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/runs/rolelabel.h>

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

namespace {

/// An icon in the accent color or in text2, at the size of its box.
class IconBox : public QWidget {
public:
    IconBox(const QString& name, int size, bool accent, QWidget* parent)
        : QWidget(parent)
        , m_icon(views::icon(name))
        , m_accent(accent)
    {
        setFixedSize(size, size);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        if (!m_accent) {
            m_icon.paint(&painter, rect());
            return;
        }
        const double ratio = devicePixelRatioF();
        QPixmap tinted(size() * ratio);
        tinted.setDevicePixelRatio(ratio);
        tinted.fill(Qt::transparent);
        QPainter tint(&tinted);
        m_icon.paint(&tint, rect());
        tint.setCompositionMode(QPainter::CompositionMode_SourceIn);
        tint.fillRect(rect(), Theme::current().accent);
        tint.end();
        painter.drawPixmap(0, 0, tinted);
    }

private:
    QIcon m_icon;
    bool m_accent;
};

void paintPanel(QWidget* widget, const QColor& fill, const QColor& edge, double radius)
{
    QPainter painter(widget);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(edge, 1));
    painter.setBrush(fill);
    painter.drawRoundedRect(QRectF(widget->rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

}

WelcomeCard::WelcomeCard(const QString& iconName, const QString& title, const QString& paragraph, QWidget* parent)
    : QWidget(parent)
    , m_body(new QVBoxLayout)
    , m_foot(new QHBoxLayout)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(20, 20, 20, 20);
    layout->setSpacing(8);
    auto* head = new QHBoxLayout;
    head->setSpacing(10);
    head->addWidget(new IconBox(iconName, 20, true, this));
    head->addWidget(new RoleLabel(title, &Theme::text, views::wordsFont(15, 600), this), 1);
    layout->addLayout(head);
    auto* words = new RoleLabel(paragraph, &Theme::text2, views::wordsFont(13), this);
    words->setWordWrap(true);
    layout->addWidget(words);
    layout->addSpacing(12);
    m_body->setSpacing(8);
    layout->addLayout(m_body);
    layout->addStretch();
    m_foot->setSpacing(10);
    layout->addLayout(m_foot);
}

void WelcomeCard::addFact(const QString& iconName, const QString& text)
{
    auto* row = new QHBoxLayout;
    row->setSpacing(10);
    row->addWidget(new IconBox(iconName, 16, false, this), 0, Qt::AlignTop);
    auto* words = new RoleLabel(text, &Theme::text, views::wordsFont(12), this);
    words->setWordWrap(true);
    row->addWidget(words, 1);
    m_body->addLayout(row);
    m_body->addSpacing(4);
}

void WelcomeCard::paintEvent(QPaintEvent*)
{
    paintPanel(this, Theme::current().window, Theme::current().border, 6);
}

CodeBlock::CodeBlock(const QString& text, QWidget* parent)
    : QWidget(parent)
{
    auto* label = (new RoleLabel(text, &Theme::text, views::codeFont(12), this))->asData();
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setWordWrap(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 10, 12, 10);
    layout->addWidget(label);
}

void CodeBlock::paintEvent(QPaintEvent*)
{
    paintPanel(this, Theme::current().base, Theme::current().border, 4);
}

}
