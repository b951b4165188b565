// SPDX-License-Identifier: GPL-3.0-or-later
#include "changelines.h"

#include <QPainter>

#include <telltale/common/theme.h>

#include "fieldtext.h"

namespace telltale::views {
namespace {

constexpr int kLine = 20;

QColor tinted(QColor color)
{
    color.setAlphaF(0.16F);
    return color;
}

}

ChangeLines::ChangeLines(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("configChanges"));
    setAccessibleName(tr("Changes"));
}

void ChangeLines::set(const std::vector<config::FieldChange>& changes, const QString& unchanged)
{
    m_unchanged = unchanged;
    m_changes = changes;
    QStringList lines;
    for (const config::FieldChange& change : changes)
        lines.append(QString::fromStdString(change.pointer + ": " + change.before + " -> " + change.after));
    setAccessibleDescription(changes.empty() ? unchanged : lines.join(u'\n'));
    updateGeometry();
    update();
}

QSize ChangeLines::sizeHint() const
{
    return { 260, std::max(1, static_cast<int>(m_changes.size()) * 2) * kLine + 8 };
}

void ChangeLines::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), theme.base);
    if (m_changes.empty()) {
        painter.setFont(wordsFont(12));
        painter.setPen(theme.text3);
        painter.drawText(rect().adjusted(12, 0, -12, 0), Qt::AlignCenter | Qt::TextWordWrap, m_unchanged);
        return;
    }
    painter.setFont(codeFont(12));
    int y = 4;
    const auto line = [&](QChar sign, QColor color, const std::string& pointer, const std::string& value) {
        painter.fillRect(0, y, width(), kLine, tinted(color));
        painter.setPen(color);
        painter.drawText(QRect(0, y, 24, kLine), Qt::AlignCenter, sign);
        painter.setPen(theme.text);
        const QString text = QString::fromStdString(pointer).mid(1).replace(u'/', u'.') + QStringLiteral(": ")
            + grouped(QString::fromStdString(value));
        painter.drawText(QRect(26, y, width() - 34, kLine), Qt::AlignVCenter,
            painter.fontMetrics().elidedText(text, Qt::ElideRight, width() - 34));
        y += kLine;
    };
    for (const config::FieldChange& change : m_changes) {
        line(QChar(0x2212), theme.warnText, change.pointer, change.before);
        line(u'+', theme.ok, change.pointer, change.after);
    }
}

}
