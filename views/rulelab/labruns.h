// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <vector>

#include <QTreeWidget>

#include <telltale/lab/truth.h>
#include <telltale/store/runhandle.h>

namespace telltale::items {
class RunsModel;
}

namespace telltale::views {

class ViewState;

/// The runs that rules may be tried on, with how many of their incidents are labeled, and whether all else in them is a
/// false alarm.
class LabRuns : public QTreeWidget {
    Q_OBJECT
public:
    enum Column { NameColumn, TrueColumn, FalseColumn, CleanColumn, ColumnCount };

    LabRuns(items::RunsModel* model, ViewState* state, QWidget* parent = nullptr);

    std::vector<store::RunRef> all() const; ///< the shown one first
    std::vector<store::RunRef> chosen() const;
    /// Null for what is not in the list.
    store::RunRef find(const QString& id) const;
    QString nameOf(const QString& id) const;
    /// What tells it from the others in little room: its name, or its id where several have that name.
    QString wordOf(const QString& id) const;
    void setTruth(const QString& id, const lab::Truth& truth);
    /// Asked for, and not in the log yet.
    void setCleanWaiting(const QString& id, bool isClean);

Q_SIGNALS:
    void listChanged(); ///< other runs
    void chosenChanged();
    void cleanWanted(const telltale::store::RunRef& run, bool isClean);

private:
    void takeRuns();
    void takeRun();
    void fitColumns();
    QTreeWidgetItem* itemOf(const QString& id) const;

    items::RunsModel* m_model;
    ViewState* m_state;
    std::map<QString, store::RunRef> m_runs;
    bool m_isTaking = false;
    bool m_isChosen = false; ///< by somebody; else the shown run is
};

}
