// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QListView>

#include <telltale/analysis/runfacts.h>

namespace telltale::views {

class RevisionsModel;

/// What was offered to a run's ranks before, newest first: what each revision changed, from which step on, by whom.
/// Choosing one (a click on its icon, double click, Return) brings it back as a draft; choosing the newest undoes it.
class RevisionList : public QListView {
    Q_OBJECT
public:
    explicit RevisionList(QWidget* parent = nullptr);

    void set(const std::vector<analysis::RevisionFacts>& revisions);

Q_SIGNALS:
    void chosen(const QString& config);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    void choose(const QModelIndex& index);

    RevisionsModel* m_model;
};

}
