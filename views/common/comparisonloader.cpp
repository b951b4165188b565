// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparisonloader.h"

#include <algorithm>
#include <utility>

#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>

namespace telltale::views {

ComparisonLoader::ComparisonLoader(ViewState* state, store::QueryPool* queries, QObject* parent)
    : QObject(parent)
    , m_state(state)
    , m_queries(queries)
{
    for (std::size_t i = 0; queries && i < ViewState::kMostCompared; ++i)
        m_ids.push_back(queries->newView());
}

ComparisonLoader::~ComparisonLoader()
{
    for (const auto id : m_ids)
        m_queries->cancel(id);
}

void ComparisonLoader::want(std::vector<store::RunRef> runs)
{
    items::assertGuiThread();
    for (const auto id : m_ids)
        m_queries->cancel(id);
    m_shown = m_state->run();
    m_wanted.clear();
    for (store::RunRef& run : runs) {
        const auto isSame = [&run](const ComparedRun& one) { return one.run->locator == run->locator; };
        if (run && m_shown && run->locator != m_shown->locator && m_wanted.size() < m_ids.size()
            && std::none_of(m_wanted.begin(), m_wanted.end(), isSame))
            m_wanted.push_back({ std::move(run), nullptr });
    }
    m_missing = m_wanted.size();
    if (m_missing == 0)
        take();
    for (std::size_t i = 0; i < m_wanted.size(); ++i) {
        m_queries->submit(m_ids[i], m_wanted[i].run,
            [this, i](Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
                auto catalog = reader ? (*reader)->catalog()
                                      : Expected<std::shared_ptr<const store::Catalog>>(tl::unexpected(reader.error()));
                return [this, i, catalog] {
                    if (catalog)
                        m_wanted[i].catalog = *catalog;
                    else
                        Q_EMIT problem(items::saidwords::of(catalog.error()));
                    if (--m_missing == 0)
                        take();
                };
            });
    }
}

void ComparisonLoader::take()
{
    std::erase_if(m_wanted, [](const ComparedRun& one) { return !one.catalog; });
    if (m_shown == m_state->run())
        m_state->setComparedRuns(std::exchange(m_wanted, {}));
}

}
