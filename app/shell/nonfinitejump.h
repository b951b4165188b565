// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QObject>

#include <telltale/common/rowlist.h>
#include <telltale/common/viewstate.h>
#include <telltale/store/querypool.h>

namespace telltale::shell {

/// Where a series stops being finite: the first step of a stretch of NaN or Inf.
struct Onset {
    Step step;
    Rank rank;
    views::ModuleKey key;
};

/// [ and ]: moves the cursor to the previous or next step at which a series of the shown kind, or a scalar, on any rank
/// stops being finite, and selects it. Thread: gui; the search runs in the query pool.
class NonFiniteJump : public QObject {
    Q_OBJECT
public:
    NonFiniteJump(views::ViewState* state, store::QueryPool* queries, QObject* parent);
    ~NonFiniteJump() override;

    void previous() { go(false); }
    void next() { go(true); }

    /// The onset nearest to the end of `range` that is searched from; `range.first` itself only says what was before.
    /// Thread: query.
    static Expected<std::optional<Onset>> find(store::RunReader& reader, const std::vector<views::Row>& rows, Stat stat,
        StepRange range, bool forward, const series::CancelToken& cancel);

Q_SIGNALS:
    void nothingFound(bool forward);

private:
    void go(bool forward);
    void show(const Onset& onset);

    views::ViewState* m_state;
    store::QueryPool* m_queries;
    store::QueryPool::ViewId m_id;
};

}
