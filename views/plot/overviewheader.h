// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>

#include <QRect>

#include "curvelegend.h"
#include "scalarpanels.h"

class QPainter;

namespace telltale::views {

inline constexpr int kPanelHeader = 32; ///< its height

/// Where captions begin behind the panels' titles, for all of them: at the plots' left edge, or where the gutter is too
/// narrow for one of the titles, behind the widest. Thread: any.
double panelCaptionLeft(const std::vector<ScalarPanel>& panels, const QRect& plot);
/// The panels' titles as far as they have room left of the captions, cut as fitLabels() does: no two read the same.
/// Thread: any.
std::vector<QString> panelTitles(const std::vector<ScalarPanel>& panels, const QRect& plot);

/// A learning rate is set, not measured: a smoothed one would be a rate that no step had.
bool isSmoothable(const CurveSeries& one);
/// The lines that a shared plot's legend names: the chosen rank's, of the run that is shown.
std::vector<const CurveSeries*> ownLines(const CurvePicture& picture);

/// "last finite 2.613 at 31 189" and "NaN" when the newest sample is not finite, else the value alone.
struct LastValue {
    QString value;
    QString before; ///< what stands left of it in a quiet color
    StepRange at; ///< its steps, where they are not the one that was asked for
    bool critical = false;
    bool isNone = false; ///< a dash: it is of no step
};
LastValue lastValueOf(const CurveSeries& one);
/// "on both ranks", "on all 4 ranks": before a value that is that of each.
QString allRanksText(int count);
/// What process and machine use: sampled now and then.
bool isSystemMetric(const CurveSeries& one);
/// As lineBucketOf(); of a system metric the newest until then that has a sample, if any has.
int heldBucket(const CurveSeries& one, Step step);
/// The same at a step: `exact` if it was asked for, else its bucket's.
LastValue valueAt(const CurveSeries& one, Step step, const LegendValue* exact = nullptr);

/// Of the newest value of any of them.
StepRange newestSteps(const CurvePicture& picture);

using ValueOf = std::function<LastValue(const CurveSeries&)>;
struct HeaderLook {
    ValueOf valueOf;
    std::optional<Step> step; ///< that the values are of; none: the last ones
    double smoothing = 0;
    QString title {}; ///< of panelTitles(); empty: the panel's own
    bool isLog = false; ///< its axis
    StepRange newest {}; ///< newestSteps() of all panels: values of earlier steps say theirs
    bool isLive = false;
};
/// The line above a plot of the Overview: what it shows at the left, values at the right, of a shared plot or of many
/// runs beside the colors of their lines. Thread: any.
void paintPanelHeader(
    QPainter& painter, const QRect& plot, const ScalarPanel& panel, const HeaderLook& look, double captionLeft);

}
