// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <telltale/store/querypool.h>

namespace telltale::views {
class ViewState;
}

namespace telltale::shell {

/// A run opens on its lowest rank; where that one is finite throughout and another is not, on the lowest that is not,
/// unless the user has chosen a rank. Thread: gui; the search runs in the query pool.
class OpeningRank : public QObject {
    Q_OBJECT
public:
    OpeningRank(views::ViewState* state, store::QueryPool* queries, QObject* parent);
    ~OpeningRank() override;

    void keep(); ///< the rank of now is the user's choice

private:
    void catalogChanged();

    views::ViewState* m_state;
    store::QueryPool* m_queries;
    store::QueryPool::ViewId m_id;
    bool m_wanted = false; ///< the run that is shown was not looked through yet
};

}
