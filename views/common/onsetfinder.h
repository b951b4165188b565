// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>

#include <QObject>

#include <telltale/store/querypool.h>

#include "viewstate.h"

namespace telltale::views {

/// Where something stops being finite: the tensor that came first, over all kinds and ranks.
struct FoundOnset {
    Step step;
    Rank rank;
    Kind kind = Kind::Unspecified;
    ModuleKey key;
};

/// Asks where the run stops being finite, whatever is shown, and goes there. Thread: gui; the search runs in the query
/// pool, and a newer question cancels the older.
class OnsetFinder : public QObject {
    Q_OBJECT
public:
    using Found = std::function<void(const std::optional<FoundOnset>& onset)>;

    OnsetFinder(ViewState* state, store::QueryPool* queries, QObject* parent);
    ~OnsetFinder() override;

    /// As analysis::findOnset over `range`, whose first step only says what was before. No answer without a catalog.
    void find(StepRange range, bool forward, Found found);
    /// Where its incident began if one did at that step: of several, it knows the first.
    FoundOnset known(FoundOnset onset) const;
    /// That incident, else step, rank, kind and tensor.
    void goTo(const FoundOnset& onset);

private:
    const judge::Incident* incidentAt(Step step) const; ///< of values that stop being finite

    ViewState* m_state;
    store::QueryPool* m_queries;
    store::QueryPool::ViewId m_id;
};

}
