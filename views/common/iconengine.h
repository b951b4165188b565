// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QIconEngine>
#include <QString>

#include "theme.h"

namespace telltale::views {

/// Draws one of our line icons in the color that the theme in force gives to the icon's mode and state, so that a
/// change of theme needs a repaint and nothing else. `color`: that of the theme which it has in any state but Disabled.
class IconEngine : public QIconEngine {
public:
    explicit IconEngine(const QString& name, ThemeColor color = nullptr);

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override;
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override;
    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal scale) override;
    QIconEngine* clone() const override;
    QString key() const override { return QStringLiteral("telltale"); }

private:
    QColor colorFor(QIcon::Mode mode, QIcon::State state) const;

    QString m_name;
    QByteArray m_svg;
    ThemeColor m_color;
};

}
