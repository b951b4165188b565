// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QObject>

#include <telltale/core/ids.h>

namespace telltale::views {

class ViewState;

/// Left and right plot edge shared by heat map, curves, overview and lanes, so that one cursor is one line down the
/// window; maps steps to x and back, and gives the labeled ticks. Thread: gui.
class SharedAxis : public QObject {
    Q_OBJECT
public:
    static constexpr int kGutter = 112; ///< label column left of every plot, px
    static constexpr int kLegend = 142; ///< legend column at the right, px

    explicit SharedAxis(ViewState* state, QObject* parent = nullptr);

    struct Tick {
        double x; ///< px from the plot's left edge
        qint64 step;
    };
    /// Ticks for a plot `width` px wide that shows the state's visible range; labels never overlap.
    std::vector<Tick> ticks(int width) const;
    /// Center of a step's column, px from the plot's left edge. Buckets of `width` px: [first, last + 1) maps to [0,
    /// width).
    double xOf(Step step, int width) const;
    Step stepAt(double x, int width) const;

    /// The same for any range: a picture keeps the range of the answer it shows while a newer one loads.
    static std::vector<Tick> ticksFor(StepRange range, int width);
    static double xOfStep(StepRange range, Step step, int width);

Q_SIGNALS:
    void changed();

private:
    ViewState* m_state;
};

}
