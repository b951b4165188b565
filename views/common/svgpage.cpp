// SPDX-License-Identifier: GPL-3.0-or-later
#include "svgpage.h"

#include <QPaintEngine>
#include <QPainter>

#include <telltale/items/guithread.h>

namespace telltale::views {

VectorFrame::VectorFrame(QPainter& target, QSize size)
    : QImage(size * kRatio, QImage::Format_RGB32)
    , m_target(&target)
{
    setDevicePixelRatio(kRatio);
}

QPainter* VectorFrame::painterOf(QImage& image)
{
    items::assertGuiThread();
    auto* frame = dynamic_cast<VectorFrame*>(&image);
    return frame ? frame->m_target : nullptr;
}

SvgPage* SvgPage::of(const QPainter& painter)
{
    const QPaintEngine* engine = painter.paintEngine();
    return engine ? dynamic_cast<SvgPage*>(engine->paintDevice()) : nullptr;
}

VectorFrame& SvgPage::addFrame(QPainter& painter, QSize size)
{
    return *m_frames.emplace_back(std::make_unique<VectorFrame>(painter, size));
}

}
