// SPDX-License-Identifier: GPL-3.0-or-later
#include "dataviews.h"

#include <telltale/heatmap/heatmapview.h>
#include <telltale/plot/curvesview.h>
#include <telltale/plot/overviewview.h>

namespace telltale::shell {

views::DataView* makeOverview(const views::ViewContext& context, QWidget* parent)
{
    return new views::OverviewView(context, parent);
}

views::DataView* makeHeatmap(const views::ViewContext& context, QWidget* parent)
{
    return new views::HeatmapView(context, parent);
}

views::DataView* makeCurves(const views::ViewContext& context, QWidget* parent)
{
    return new views::CurvesView(context, parent);
}

}
