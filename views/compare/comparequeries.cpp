// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparequeries.h"

#include <mutex>

#include <telltale/items/guithread.h>

namespace telltale::views {

/// One question, and what has come of it. Its parts are written by the pool's threads, each its own; `lock` holds the
/// count of those that are missing.
struct CompareQueries::Gathered {
    std::vector<store::RunRef> runs;
    CompareRequest request;
    Taken taken;
    std::vector<ComparePart> parts;
    std::mutex lock;
    std::size_t missing = 0;

    bool isLast()
    {
        const std::lock_guard guard(lock);
        return --missing == 0;
    }
};

CompareQueries::CompareQueries(store::QueryPool* queries)
    : m_queries(queries)
{
    for (std::size_t i = 0; queries && i <= ViewState::kMostCompared; ++i)
        m_ids.push_back(queries->newView());
}

CompareQueries::~CompareQueries()
{
    cancel();
}

void CompareQueries::cancel()
{
    for (const auto id : m_ids)
        m_queries->cancel(id);
    m_isBusy = false;
}

void CompareQueries::finish(const std::shared_ptr<Gathered>& gathered, Expected<CompareAnswer> answer)
{
    cancel();
    gathered->taken(std::move(answer));
}

void CompareQueries::ask(std::vector<store::RunRef> runs, CompareRequest request, Taken taken)
{
    items::assertGuiThread();
    cancel();
    if (!m_queries || runs.size() < 2 || runs.size() > m_ids.size())
        return;
    auto gathered = std::make_shared<Gathered>();
    gathered->parts.resize(runs.size());
    gathered->runs = std::move(runs);
    gathered->request = std::move(request);
    gathered->taken = std::move(taken);
    m_isBusy = true;
    m_queries->submit(m_ids[0], gathered->runs[0],
        [this, gathered](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            auto part = reader ? readComparePart(**reader, gathered->request, 0, nullptr, cancel)
                               : tl::unexpected(reader.error());
            if (!part)
                return [this, gathered, why = part.error()] { finish(gathered, tl::unexpected(why)); };
            gathered->parts[0] = std::move(*part);
            return [this, gathered] { askOthers(gathered); };
        });
}

void CompareQueries::askOthers(const std::shared_ptr<Gathered>& gathered)
{
    gathered->missing = gathered->runs.size() - 1;
    for (std::size_t run = 1; run < gathered->runs.size(); ++run) {
        m_queries->submit(m_ids[run], gathered->runs[run],
            [this, gathered, run](
                Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
                const CompareFrame* frame = gathered->parts[0].frame.get();
                auto part = reader ? readComparePart(**reader, gathered->request, run, frame, cancel)
                                   : tl::unexpected(reader.error());
                if (!part)
                    return [this, gathered, why = part.error()] { finish(gathered, tl::unexpected(why)); };
                gathered->parts[run] = std::move(*part);
                if (!gathered->isLast())
                    return {};
                CompareAnswer answer = compareParts(gathered->request, std::move(gathered->parts));
                return [this, gathered, answer = std::move(answer)] { finish(gathered, answer); };
            });
    }
}

}
