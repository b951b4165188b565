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

/// Gives a plot's legend, or its header, what was measured at the cursor, or at A and B, where a point of a curve is of
/// many steps. Thread: gui.
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

private:
    ExactValues(const ViewContext& context, QWidget* canvas, Picture picture, Take take);
    void askSoon();

    ViewContext m_context;
    QWidget* m_canvas;
    Picture m_picture;
    Take m_take;
    store::QueryPool::ViewId m_queryId = 0;
    QTimer m_timer;
};

}
