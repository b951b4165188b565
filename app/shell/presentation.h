// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/common/dataview.h>

class QLabel;

namespace telltale::shell {

struct ViewFactory;

/// A view in a window of its own, to be looked at and not worked with: what it shows of the run stays what it was when
/// it was opened, goes on while the run is recorded, and nothing clicked or typed there or in the main window changes
/// it. F11 is the full screen and back, Esc leaves it, then closes. Thread: gui.
class Presentation : public QWidget {
    Q_OBJECT
public:
    /// Of the view `from`, which `row` has made, with what is chosen there.
    Presentation(
        const ViewFactory& row, const views::DataView& from, const views::ViewContext& context, QWidget* window);
    ~Presentation() override;

    views::DataView* view() const { return m_view; }
    views::ViewState* state() const { return m_state; }
    void toggleFullScreen();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void mirror();
    void readLog();
    void updateTitle();

    views::ViewContext m_context; ///< with a state of its own
    views::ViewState* m_from;
    views::ViewState* m_state;
    views::DataView* m_view;
    QLabel* m_title;
    QString m_viewTitle;
    store::QueryPool::ViewId m_logId;
    store::LogCursor m_cursor;
};

}
