// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewfactory.h"

#include <algorithm>

#include <QCoreApplication>
#include <QSplitter>

#include <telltale/anomalies/anomaliesview.h>
#include <telltale/attention/attentionview.h>
#include <telltale/common/viewstate.h>
#include <telltale/communication/communicationview.h>
#include <telltale/compare/compareview.h>
#include <telltale/distribution/distributionview.h>
#include <telltale/heatmap/heatcanvas.h>
#include <telltale/heatmap/heatmapview.h>
#include <telltale/plot/curvesview.h>
#include <telltale/plot/overviewview.h>
#include <telltale/ranks/ranksview.h>
#include <telltale/rulelab/rulelabview.h>
#include <telltale/run/runview.h>
#include <telltale/steering/configview.h>
#include <telltale/structure/structureview.h>

namespace telltale::shell {

namespace {

template <class View> views::DataView* make(const views::ViewContext& context, QWidget* parent)
{
    return new View(context, parent);
}

constexpr int kLeastForBoth = 300; ///< px, of a map and curves that can be read

/// The heat map above the curves of what is selected in it, on one axis.
QWidget* overCurves(views::DataView* view, const views::ViewContext& context)
{
    auto* split = new QSplitter(Qt::Vertical, view->parentWidget());
    auto* heatmap = static_cast<views::HeatmapView*>(view);
    auto* curves = new views::CurvesView(context, split);
    curves->hideSharedChoices();
    split->addWidget(heatmap);
    split->addWidget(curves);
    split->setCollapsible(0, false);
    split->setCollapsible(1, true);
    split->setStretchFactor(0, 68);
    split->setStretchFactor(1, 32);
    split->setSizes({ 680, 320 });
    // Nothing selected, nothing below: the map has the room. In a low window it comes first, too: the curves have a tab
    // of their own.
    const auto fit = [curves, split, state = context.state] {
        const bool isLow = split->isVisible() && split->height() < kLeastForBoth;
        curves->setVisible(!state->selection().empty() && !isLow);
    };
    QObject::connect(context.state, &views::ViewState::selectionChanged, curves, fit);
    QObject::connect(heatmap->canvas(), &views::HeatCanvas::plotResized, curves, fit);
    fit();
    QObject::connect(heatmap->canvas(), &views::HeatCanvas::gutterChanged, curves, &views::CurvesView::setGutter);
    QObject::connect(heatmap, &views::HeatmapView::curvesWanted, split, [split] {
        if (split->sizes().value(1) == 0)
            split->setSizes({ 680, 320 });
    });
    return split;
}

constexpr const char* kContext = "telltale::shell::ViewFactory";

constexpr ViewFactory kViews[] {
    { "overview", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Overview"), "stack", &make<views::OverviewView>,
        nullptr, Subject::Metrics },
    { "heatmap", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Heatmap"), "grid", &make<views::HeatmapView>,
        &overCurves, Subject::Modules },
    { "curves", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Curves"), "curve", &make<views::CurvesView>, nullptr,
        Subject::Selection },
    { "attention", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Attention"), "eye", &make<views::AttentionView>,
        nullptr, Subject::Modules, Kind::Attention },
    { "distribution", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Distributions"), "hist",
        &make<views::DistributionView>, nullptr, Subject::Modules, {}, Stat::Hist },
    { "anomalies", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Anomalies"), "dia", &make<views::AnomaliesView>,
        nullptr, Subject::Incidents },
    { "ranks", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Ranks"), "ranks", &make<views::RanksView>, nullptr,
        Subject::Modules },
    { "communication", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Communication"), "swap",
        &make<views::CommunicationView>, nullptr, Subject::Modules, Kind::Comm },
    { "compare", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Compare"), "compare", &make<views::CompareView>,
        nullptr, Subject::Modules, {}, {}, true },
    { .id = "config",
        .name = QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Config"),
        .icon = "note",
        .make = &make<views::ConfigView>,
        .needsRoom = true },
    { "rulelab", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Rule lab"), "filter", &make<views::RuleLabView>,
        nullptr, Subject::Incidents },
    { "run", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Run"), "ring", &make<views::RunView>, nullptr,
        Subject::Metrics },
    { "structure", QT_TRANSLATE_NOOP("telltale::shell::ViewFactory", "Structure"), "layout",
        &make<views::StructureView>, nullptr, Subject::Metrics },
};

}

QString ViewFactory::title() const
{
    return QCoreApplication::translate(kContext, name);
}

views::DataView* ViewFactory::create(const views::ViewContext& context, QWidget* parent) const
{
    views::DataView* view = make(context, parent);
    view->setObjectName(QLatin1String(id));
    return view;
}

std::span<const ViewFactory> viewFactories()
{
    return kViews;
}

const ViewFactory* findView(const QString& id)
{
    const auto* at = std::find_if(
        std::begin(kViews), std::end(kViews), [&id](const ViewFactory& row) { return id == QLatin1String(row.id); });
    return at == std::end(kViews) ? nullptr : at;
}

QString renderableViews()
{
    QStringList ids;
    for (const ViewFactory& row : kViews) {
        if (row.rendered)
            ids.append(QLatin1String(row.id));
    }
    return ids.join(QStringLiteral(", "));
}

}
