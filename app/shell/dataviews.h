// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QSplitter;
class QWidget;

namespace telltale::views {
class DataView;
struct ViewContext;
}

namespace telltale::shell {

// The only place that knows the views by class; the rest of the shell knows them as DataView. Thread: gui.
views::DataView* makeOverview(const views::ViewContext& context, QWidget* parent);
views::DataView* makeCurves(const views::ViewContext& context, QWidget* parent);
/// The heat map above the curves of what is selected in it, both on one axis, which the lower one labels. Fills
/// `split` and returns the heat map.
views::DataView* makeHeatmapOverCurves(const views::ViewContext& context, QSplitter* split);

}
