// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QSize>
#include <QString>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/expected.h>
#include <telltale/shell/viewfactory.h>
#include <telltale/store/querypool.h>

namespace telltale::app {

/// What `telltale render` draws; also how the demo makes its pictures.
struct RenderRequest {
    store::RunRef run;
    std::vector<store::RunRef> with {}; ///< held against it, by views that compare
    const shell::ViewFactory* view = nullptr; ///< one that can be rendered
    std::optional<Kind> kind;
    std::optional<Stat> stat;
    QString modules; ///< text, glob* or /regex/; empty = all (curves: the first few)
    std::vector<Rank> ranks; ///< empty = the run's first
    QString steps; ///< "A:B", empty = all
    QString below; ///< what is drawn below the maps of the attention view; empty = its curves
    QSize size { 1600, 1000 };
};

/// What could not be drawn although it was asked for: sentences.
struct RenderReport {
    std::vector<std::string> lost;
};

/// Draws one view off screen and writes it as PNG or CSV, by the file's ending. Needs a QApplication with the theme
/// applied, and someone who delivers the pool's answers while events are processed. Thread: gui.
Expected<RenderReport> renderToFile(const RenderRequest& request, store::QueryPool& queries, const QString& path);

}
