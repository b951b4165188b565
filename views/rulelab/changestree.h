// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QTreeWidget>

#include <telltale/core/ids.h>
#include <telltale/judge/incident.h>

namespace telltale::views {

/// Incidents that appear or vanish by the rules that are tried.
class ChangesTree : public QTreeWidget {
    Q_OBJECT
public:
    enum Column { ChangeColumn, RunColumn, StepColumn, RankColumn, PlaceColumn, RuleColumn, ColumnCount };
    struct Row {
        QString runId;
        QString run; ///< its name
        bool appears = true;
        judge::Incident incident;
    };

    explicit ChangesTree(QWidget* parent = nullptr);

    void set(const std::vector<Row>& rows); ///< of many the first
    /// Without rows: a sentence in their place.
    QString emptyText() const;
    void setTried(bool on); ///< false: whether anything changes is not known yet

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

Q_SIGNALS:
    void goWanted(const QString& run, telltale::Step step);

private:
    void fitColumns();

    bool m_isTried = false;
};

}
