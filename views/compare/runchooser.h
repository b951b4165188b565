// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QFrame>

#include <telltale/store/archive.h>
#include <telltale/store/runhandle.h>

class QLineEdit;
class QListWidget;

namespace telltale::items {
class RunsModel;
}

namespace telltale::views {

class ViewState;

/// A list over its parent of the runs of this data directory, with a search: those that are checked are compared with
/// the run that is shown. It goes with Escape, with a click elsewhere, or when the focus leaves it. Thread: gui.
class RunChooser : public QFrame {
    Q_OBJECT
public:
    using Find = std::function<store::RunRef(const QString& id)>;

    /// `find` gives a run of the model by its id; null: an archived one is made from what the model knows.
    RunChooser(items::RunsModel* model, ViewState* state, Find find, QWidget* parent = nullptr);

    void openBelow(const QWidget* button); ///< with the runs as they are now
    /// What it lists: live runs first, and none that is shown or cannot be read.
    static std::vector<store::RunSummary> choices(const items::RunsModel* model, const ViewState& state);

Q_SIGNALS:
    /// Other runs are checked.
    void chosen(const std::vector<telltale::store::RunRef>& runs);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fill();
    void filter(const QString& text);
    void tellChosen();
    store::RunRef find(const QString& id) const;

    items::RunsModel* m_model;
    ViewState* m_state;
    Find m_find;
    QLineEdit* m_search;
    QListWidget* m_list;
    bool m_isFilling = false;
};

}
