// SPDX-License-Identifier: GPL-3.0-or-later
#include "tagsline.h"

#include <algorithm>

#include <QLineEdit>
#include <QPushButton>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>

namespace telltale::views {
namespace {

constexpr int kHeight = 24;
constexpr int kGap = 6;
constexpr int kField = 120;
constexpr int kLongestTag = 64; ///< characters of a tag

}

TagsLine::TagsLine(QWidget* parent)
    : QWidget(parent)
    , m_field(new QLineEdit(this))
{
    m_field->setObjectName(QStringLiteral("tagField"));
    m_field->setPlaceholderText(tr("Add a tag"));
    m_field->setAccessibleName(tr("Add a tag"));
    m_field->setMaxLength(kLongestTag);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(m_field, &QLineEdit::returnPressed, this, [this] {
        const QString tag = m_field->text().simplified();
        if (tag.isEmpty())
            return;
        m_field->clear();
        Q_EMIT addWanted(tag);
    });
}

void TagsLine::set(const std::vector<std::string>& tags)
{
    items::assertGuiThread();
    if (tags == m_tags)
        return;
    m_tags = tags;
    for (QPushButton* chip : m_chips)
        chip->deleteLater();
    m_chips.clear();
    for (const std::string& tag : m_tags) {
        const QString text = QString::fromStdString(tag);
        auto* chip = new QPushButton(this);
        chip->setObjectName(QStringLiteral("tagChip"));
        chip->setAutoDefault(false);
        chip->setFont(wordsFont(12));
        chip->setProperty("tag", text);
        chip->setProperty("isData", true);
        connect(chip, &QPushButton::clicked, this, [this, text] { Q_EMIT removeWanted(text); });
        m_chips.push_back(chip);
        chip->show();
    }
    setWritable(m_isWritable);
    place(width(), true);
    updateGeometry();
}

void TagsLine::setWritable(bool isWritable)
{
    m_isWritable = isWritable;
    m_field->setEnabled(isWritable);
    for (QPushButton* chip : m_chips) {
        chip->setEnabled(isWritable);
        const QString tag = chip->property("tag").toString();
        const QString shown = QString(tag).replace(u'&', QStringLiteral("&&"));
        chip->setText(isWritable ? shown + QStringLiteral("  ") + QChar(0x00D7) : shown);
        chip->setToolTip(isWritable ? tr("Take the tag away") : QString());
        chip->setAccessibleName(isWritable ? tr("Tag %1, press to take it away").arg(tag) : tr("Tag %1").arg(tag));
    }
}

int TagsLine::place(int width, bool isMoved) const
{
    int x = 0;
    int y = 0;
    const auto put = [&](QWidget* one, int wanted) {
        const int wide = std::min(wanted, std::max(40, width));
        if (x > 0 && x + wide > width) {
            x = 0;
            y += kHeight + kGap;
        }
        if (isMoved)
            one->setGeometry(x, y, wide, kHeight);
        x += wide + kGap;
    };
    for (QPushButton* chip : m_chips)
        put(chip, chip->sizeHint().width());
    put(m_field, kField);
    return y + kHeight;
}

void TagsLine::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place(width(), true);
}

}
