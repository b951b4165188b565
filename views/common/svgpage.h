// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <QImage>
#include <QSvgGenerator>

class QPainter;

namespace telltale::views {

/// What a canvas takes for its frame when a picture of lines and words is made: whoever paints on it paints with the
/// picture's own painter, so that text stays text and lines stay lines. Pixels written past a painter are lost: who
/// writes pixels asks painterOf() first. Thread: gui.
class VectorFrame : public QImage {
public:
    static constexpr double kRatio = 2; ///< of what is drawn as pixels all the same: the cells of heat maps

    /// `target` is active, and outlives this.
    VectorFrame(QPainter& target, QSize size);

    /// Null where the image is one.
    static QPainter* painterOf(QImage& image);

protected:
    QPainter* sharedPainter() const override { return m_target; }

private:
    QPainter* m_target;
};

/// A picture of a view as an SVG document. Its frames live as long as it does, since the engine remembers what it was
/// painted through last. Thread: gui.
class SvgPage : public QSvgGenerator {
public:
    /// Null where the painter draws something else.
    static SvgPage* of(const QPainter& painter);
    VectorFrame& addFrame(QPainter& painter, QSize size);

private:
    std::vector<std::unique_ptr<VectorFrame>> m_frames;
};

}
