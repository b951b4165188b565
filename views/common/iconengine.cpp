// SPDX-License-Identifier: GPL-3.0-or-later
#include "iconengine.h"

#include <algorithm>

#include <QFile>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

#include "svgpage.h"

namespace telltale::views {

QColor IconEngine::colorFor(QIcon::Mode mode, QIcon::State state) const
{
    const Theme& theme = Theme::current();
    if (mode == QIcon::Disabled)
        return theme.text3;
    if (m_color)
        return theme.*m_color;
    return state == QIcon::On || mode == QIcon::Selected || mode == QIcon::Active ? theme.text : theme.text2;
}

IconEngine::IconEngine(const QString& name, ThemeColor color)
    : m_name(name)
    , m_color(color)
{
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    Q_ASSERT_X(file.exists(), "icon", qPrintable(name));
    if (file.open(QIODevice::ReadOnly))
        m_svg = file.readAll();
}

void IconEngine::paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state)
{
    if (SvgPage::of(*painter)) {
        QByteArray svg = m_svg;
        QSvgRenderer(svg.replace("currentColor", colorFor(mode, state).name().toLatin1())).render(painter, rect);
        return;
    }
    const qreal scale = painter->device() ? painter->device()->devicePixelRatioF() : 1.0;
    const int side = std::min(rect.width(), rect.height());
    const QPixmap drawn = scaledPixmap(QSize(side, side) * scale, mode, state, scale);
    painter->drawPixmap(rect.x() + (rect.width() - side) / 2, rect.y() + (rect.height() - side) / 2, side, side, drawn);
}

QPixmap IconEngine::pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state)
{
    return scaledPixmap(size, mode, state, 1.0);
}

QPixmap IconEngine::scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal scale)
{
    const QColor color = colorFor(mode, state);
    const QString key
        = QStringLiteral("telltale/%1/%2/%3x%4").arg(m_name, color.name()).arg(size.width()).arg(size.height());
    QPixmap drawn;
    if (!QPixmapCache::find(key, &drawn)) {
        QByteArray svg = m_svg;
        svg.replace("currentColor", color.name().toLatin1());
        // The drawing is scaled, the line is not: 20 px icons keep a line of 1.5.
        const int side = std::min(size.width(), size.height()); // what is wider has a gap behind it
        const double logical = std::max(1.0, side / scale);
        if (logical > 16)
            svg.replace("stroke-width=\"1.5\"",
                "stroke-width=\"" + QByteArray::number(1.5 * 16 / std::min(logical, 20.0), 'f', 3) + "\"");
        QSvgRenderer renderer(svg);
        drawn = QPixmap(size);
        drawn.fill(Qt::transparent);
        QPainter painter(&drawn);
        renderer.render(&painter, QRectF(0, 0, side, side));
        QPixmapCache::insert(key, drawn);
    }
    drawn.setDevicePixelRatio(scale);
    return drawn;
}

QIconEngine* IconEngine::clone() const
{
    return new IconEngine(*this);
}

QIcon icon(const QString& name)
{
    return QIcon(new IconEngine(name));
}

}
