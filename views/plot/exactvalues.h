// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <telltale/common/dataview.h>

namespace telltale::views {

class CurveCanvas;

/// Gives a plot's legend what was measured at the cursor, or at A and B, where a point of a curve is of many steps.
/// Thread: gui.
class ExactValues : public QObject {
    Q_OBJECT
public:
    ExactValues(const ViewContext& context, CurveCanvas* canvas);
    ~ExactValues() override;

    void ask(); ///< the canvas has another picture

private:
    void askSoon();

    ViewContext m_context;
    CurveCanvas* m_canvas;
    store::QueryPool::ViewId m_queryId = 0;
    QTimer m_timer;
};

}
