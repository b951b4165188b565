// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <telltale/core/ids.h>

namespace telltale::series {

/// Divides a range of steps into equal buckets, one a pixel: a step belongs to floor((step - first) * pixels / count).
/// Thread: any (a value).
class PixelMap {
public:
    /// `range` is not empty, `pixels` > 0.
    PixelMap(StepRange range, int pixels)
        : m_range(range)
        , m_pixels(pixels)
    {
    }

    StepRange range() const { return m_range; }
    int pixels() const { return m_pixels; }
    /// For steps inside the range.
    int pixelOf(Step step) const;
    /// The first step of a pixel; of `pixels()`, the step behind the range. A pixel narrower than a step may be empty:
    /// then it has the first step of the next.
    std::int64_t firstStepOf(int pixel) const;
    /// Steps in the narrowest pixel, at least 1.
    std::int64_t narrowest() const;

private:
    StepRange m_range;
    int m_pixels;
};

}
