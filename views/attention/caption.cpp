// SPDX-License-Identifier: GPL-3.0-or-later
#include "caption.h"

#include <algorithm>

#include <QLabel>
#include <QPainter>

#include <telltale/common/theme.h>

namespace telltale::views {

namespace {

class CutLabel : public QLabel {
public:
    using QLabel::QLabel;

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const QRect room = contentsRect().adjusted(std::max(indent(), 0), 0, 0, 0);
        painter.setPen(palette().color(foregroundRole()));
        painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(text(), Qt::ElideRight, room.width()));
    }
};

}

QLabel* makeCaption(QWidget* parent)
{
    auto* caption = new CutLabel(parent);
    caption->setFixedHeight(kCaptionHeight);
    caption->setFont(wordsFont(11));
    caption->setForegroundRole(QPalette::PlaceholderText);
    caption->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    return caption;
}

}
