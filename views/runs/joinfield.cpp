// SPDX-License-Identifier: GPL-3.0-or-later
#include "joinfield.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>

#include <telltale/common/theme.h>

namespace telltale::views {

JoinField::JoinField(QWidget* parent)
    : QWidget(parent)
    , m_field(new QLineEdit(this))
    , m_button(new QPushButton(icon(QStringLiteral("copy")), tr("Copy"), this))
{
    m_field->setReadOnly(true);
    m_field->setFont(codeFont(12));
    m_field->setAccessibleName(tr("Join string, token hidden"));
    m_field->setMinimumHeight(28);
    m_field->setTextMargins(5, 0, 5, 0);
    m_button->setToolTip(tr("Copy the join string with its token (Ctrl+Shift+C)"));
    m_button->setAccessibleName(tr("Copy the join string"));
    m_button->setEnabled(false);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(m_field, 1);
    layout->addWidget(m_button);
    connect(m_button, &QPushButton::clicked, this, &JoinField::copy);
}

QString JoinField::masked(const QString& join)
{
    QString shown = join;
    const auto cover = [&](const QString& key, const QString& mask, qsizetype keepFirst, qsizetype keepLast) {
        const qsizetype at = shown.indexOf(key);
        if (at < 0)
            return;
        const qsizetype start = at + key.size();
        qsizetype end = shown.indexOf(u'&', start);
        end = end < 0 ? shown.size() : end;
        if (end - start > keepFirst + keepLast)
            shown.replace(start + keepFirst, end - start - keepFirst - keepLast, mask);
    };
    cover(QStringLiteral("token="), QString(8, QChar(0x2022)), 0, 0);
    cover(QStringLiteral("fp="), QString(QChar(0x2026)), 4, 2);
    return shown;
}

void JoinField::setJoinString(const QString& join)
{
    m_join = join;
    m_field->setText(masked(join));
    m_field->setCursorPosition(0);
    m_button->setEnabled(!join.isEmpty());
}

void JoinField::copy()
{
    if (m_join.isEmpty())
        return;
    QGuiApplication::clipboard()->setText(m_join);
    Q_EMIT copied();
}

}
