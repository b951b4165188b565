// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <telltale/common/viewstate.h>
#include <telltale/store/querypool.h>

namespace telltale::shell {

/// [ and ]: moves the cursor to the previous or next step at which anything, of any kind on any rank, stops being
/// finite, and shows where it began, whatever is shown. Thread: gui; the search runs in the query pool.
class NonFiniteJump : public QObject {
    Q_OBJECT
public:
    NonFiniteJump(views::ViewState* state, store::QueryPool* queries, QObject* parent);
    ~NonFiniteJump() override;

    void previous() { go(false); }
    void next() { go(true); }

Q_SIGNALS:
    void nothingFound(bool forward);

private:
    void go(bool forward);
    std::int64_t incidentAt(Step step) const; ///< of values that stop being finite; 0 = none

    views::ViewState* m_state;
    store::QueryPool* m_queries;
    store::QueryPool::ViewId m_id;
};

}
