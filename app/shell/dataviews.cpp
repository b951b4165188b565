// SPDX-License-Identifier: GPL-3.0-or-later
#include "dataviews.h"

#include <QSplitter>

#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/plot/curvesview.h>
#include <telltale/plot/overviewview.h>

namespace telltale::shell {

views::DataView* makeOverview(const views::ViewContext& context, QWidget* parent)
{
    return new views::OverviewView(context, parent);
}

views::DataView* makeCurves(const views::ViewContext& context, QWidget* parent)
{
    return new views::CurvesView(context, parent);
}

views::DataView* makeHeatmapOverCurves(const views::ViewContext& context, QSplitter* split)
{
    auto* heatmap = new views::HeatmapView(context, split);
    auto* curves = new views::CurvesView(context, split);
    curves->hideSharedChoices();
    split->addWidget(heatmap);
    split->addWidget(curves);
    split->setCollapsible(0, false);
    split->setCollapsible(1, true);
    split->setStretchFactor(0, 68);
    split->setStretchFactor(1, 32);
    split->setSizes({ 680, 320 });
    heatmap->setStepAxisVisible(false);
    QObject::connect(split, &QSplitter::splitterMoved, heatmap,
        [heatmap, split] { heatmap->setStepAxisVisible(split->sizes().value(1) == 0); });
    QObject::connect(heatmap->canvas(), &views::HeatCanvas::gutterChanged, curves, &views::CurvesView::setGutter);
    QObject::connect(heatmap, &views::HeatmapView::curvesWanted, split, [heatmap, split] {
        if (split->sizes().value(1) == 0) {
            split->setSizes({ 680, 320 });
            heatmap->setStepAxisVisible(false);
        }
    });
    return heatmap;
}

}
