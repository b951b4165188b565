// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <span>

#include <QString>

#include <telltale/core/kinds.h>

class QWidget;

namespace telltale::views {
class DataView;
struct ViewContext;
}

namespace telltale::shell {

/// What a view draws without a window, and so what `telltale render` looks for before it draws.
enum class Subject {
    Modules, ///< every module that the filter lets through
    Selection, ///< the selected modules: the first of those
    Metrics, ///< what the training logged, whatever the filter says
    Incidents, ///< the incidents of its log, whatever was measured
};

/// One view of run data: a row. The tabs, their commands and keys, `telltale render`, its help and the session are made
/// from the rows; nothing else in app/ knows a view by its class.
struct ViewFactory {
    const char* id; ///< "heatmap": the view's object name, in --view, in "view.heatmap" and in the settings
    const char* name; ///< English; a user reads title()
    const char* icon;
    views::DataView* (*make)(const views::ViewContext& context, QWidget* parent);
    /// What stands in the view's tab when that is more than the view.
    QWidget* (*makePage)(views::DataView* view, const views::ViewContext& context) = nullptr;
    std::optional<Subject> rendered = {}; ///< nothing where `telltale render` does not draw it
    std::optional<Kind> kind = {}; ///< the only one that it draws
    std::optional<Stat> stat = {}; ///< likewise
    bool needsOthers = false; ///< nothing is drawn of one run alone
    bool needsRoom = false; ///< of the panels, too, that speak of a run's values

    QString title() const;
    /// make() with the object name.
    views::DataView* create(const views::ViewContext& context, QWidget* parent) const;
};

/// In the order of the tabs.
std::span<const ViewFactory> viewFactories();
/// Null for an id that no view has.
const ViewFactory* findView(const QString& id);
/// "overview, heatmap, curves": what --view takes.
QString renderableViews();

}
