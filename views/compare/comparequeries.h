// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <telltale/store/querypool.h>

#include "comparequery.h"

namespace telltale::views {

/// Asks several runs for their parts of one answer: the reference first, the others with what it says, each on its own
/// reader. A newer question replaces an older one. Thread: gui.
class CompareQueries {
public:
    using Taken = std::function<void(Expected<CompareAnswer>)>;

    explicit CompareQueries(store::QueryPool* queries);
    ~CompareQueries();
    CompareQueries(const CompareQueries&) = delete;
    CompareQueries& operator=(const CompareQueries&) = delete;

    /// The reference first.
    void ask(std::vector<store::RunRef> runs, CompareRequest request, Taken taken);
    void cancel();
    bool isBusy() const { return m_isBusy; }

private:
    struct Gathered;
    void askOthers(const std::shared_ptr<Gathered>& gathered);
    void finish(const std::shared_ptr<Gathered>& gathered, Expected<CompareAnswer> answer);

    store::QueryPool* m_queries;
    std::vector<store::QueryPool::ViewId> m_ids;
    bool m_isBusy = false;
};

}
