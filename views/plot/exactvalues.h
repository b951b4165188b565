// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <QObject>
#include <QTimer>

#include <telltale/common/dataview.h>

#include "curvelegend.h"

namespace telltale::views {

/// Gives a plot's legend, or its header, what each run measured at the cursor, or at A and B, where a point of a curve
/// is of many steps; where nothing was collected, what was last before. Thread: gui.
class ExactValues : public QObject {
    Q_OBJECT
public:
    using Picture = std::function<std::shared_ptr<const CurvePicture>()>;
    using Take = std::function<void(std::vector<LegendValue>)>;
    /// `Canvas` has picture() and setLegendValues().
    template <typename Canvas>
    ExactValues(const ViewContext& context, Canvas* canvas)
        : ExactValues(
            context, canvas, [canvas] { return canvas->picture(); },
            [canvas](std::vector<LegendValue> values) { canvas->setLegendValues(std::move(values)); })
    {
    }
    ~ExactValues() override;

    void ask(); ///< the canvas has another picture
    bool eventFilter(QObject* canvas, QEvent* event) override;

private:
    ExactValues(const ViewContext& context, QWidget* canvas, Picture picture, Take take);
    void askSoon();
    void cancel();
    void take(const CurvePicture& picture, int run, const std::vector<Step>& steps,
        const std::vector<std::vector<series::CellValue>>& cells);

    ViewContext m_context;
    QWidget* m_canvas;
    Picture m_picture;
    Take m_take;
    std::vector<store::QueryPool::ViewId> m_ids; ///< one for each run
    std::vector<LegendValue> m_values; ///< what has come of them
    std::shared_ptr<const CurvePicture> m_former; ///< of runs that were compared before
    QTimer m_timer;
};

}
