// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QObject>

#include <telltale/store/querypool.h>

#include "viewstate.h"

namespace telltale::views {

/// Makes other runs the ones that the shown run is compared with, as soon as their directories are read. Thread: gui.
class ComparisonLoader : public QObject {
    Q_OBJECT
public:
    /// Both outlive it.
    ComparisonLoader(ViewState* state, store::QueryPool* queries, QObject* parent = nullptr);
    ~ComparisonLoader() override;

    /// Beside the run that is shown now, in this order, at most ViewState::kMostCompared; a newer call replaces an
    /// older one. The shown run itself is left out, and what cannot be read.
    void want(std::vector<store::RunRef> runs);

Q_SIGNALS:
    void problem(const QString& sentence);

private:
    void take();

    ViewState* m_state;
    store::QueryPool* m_queries;
    std::vector<store::QueryPool::ViewId> m_ids;
    store::RunRef m_shown;
    std::vector<ComparedRun> m_wanted;
    std::size_t m_missing = 0;
};

}
