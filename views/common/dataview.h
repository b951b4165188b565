// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>

#include <telltale/core/expected.h>
#include <telltale/store/querypool.h>

class QIODevice;

namespace telltale::views {

class ViewState;
class SharedAxis;

/// What every data view gets from its maker. Plain pointers, owned by the caller, outlive the view.
struct ViewContext {
    ViewState* state = nullptr;
    SharedAxis* axis = nullptr;
    store::QueryPool* queries = nullptr;
};

/// A view of run data: asks the query pool in O(pixels), paints the last answer, exports what it shows.
/// Thread: gui. No I/O here: all reading happens in the pool.
class DataView : public QWidget {
    Q_OBJECT
public:
    explicit DataView(const ViewContext& context, QWidget* parent = nullptr);
    ~DataView() override; ///< cancels its queries

    virtual QString viewId() const = 0; ///< "heatmap", "curves", "overview": as `telltale render --view`
    virtual QString title() const = 0;
    /// True when nothing is being asked and the last answer is painted (headless rendering waits for this).
    virtual bool isSettled() const;
    /// The view at a given size, as shown (cursor and selection included).
    virtual QImage renderImage(QSize size);
    /// RFC 4180 CSV of what is shown: full precision, NaN/Inf as words.
    virtual Expected<void> writeCsv(QIODevice* device) const = 0;

Q_SIGNALS:
    void settled();

protected:
    const ViewContext& context() const { return m_context; }
    store::QueryPool::ViewId queryId() const { return m_queryId; }

private:
    ViewContext m_context;
    store::QueryPool::ViewId m_queryId;
};

}
