// SPDX-License-Identifier: GPL-3.0-or-later
#include "scrolledplots.h"

#include <QHBoxLayout>
#include <QScrollBar>
#include <QSignalBlocker>

#include <telltale/items/guithread.h>

#include "overviewcanvas.h"

namespace telltale::views {

QWidget* scrolledPlots(OverviewCanvas* plots)
{
    items::assertGuiThread();
    auto* box = new QWidget;
    auto* bar = new QScrollBar(Qt::Vertical);
    auto* layout = new QHBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(plots, 1);
    layout->addWidget(bar);
    bar->setAccessibleName(OverviewCanvas::tr("Plots"));
    QObject::connect(bar, &QScrollBar::valueChanged, plots, &OverviewCanvas::setFirstPlot);
    const auto fit = [plots, bar] {
        const int shown = plots->shownPlots(plots->size());
        const QSignalBlocker blocker(bar);
        bar->setRange(0, plots->plots() - shown);
        bar->setPageStep(shown);
        bar->setValue(plots->firstPlot(plots->size()));
        bar->setVisible(bar->maximum() > 0);
    };
    QObject::connect(plots, &OverviewCanvas::shownPlotsChanged, bar, fit);
    fit();
    return box;
}

}
