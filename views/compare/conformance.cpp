// SPDX-License-Identifier: GPL-3.0-or-later
#include "conformance.h"

#include <algorithm>
#include <array>
#include <tuple>

#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>

namespace telltale::views {

namespace {

constexpr int kTellMs = 100; ///< how often it says how far it is
constexpr std::int64_t kLiveLag = 2; ///< steps that may still lack values which their ranks have on the way

bool isLive(const store::RunRef& run)
{
    return run->isLive();
}

auto wished(const judge::ComparisonWish& wish)
{
    return std::tie(wish.kind, wish.stat, wish.ranks, wish.pattern, wish.steps, wish.tolerance);
}

Expected<judge::Comparison> compareWith(store::RunReader& reference, store::RunReader& other,
    const std::array<store::RunRef, 2>& runs, judge::ComparisonWish wish, std::optional<Step> after,
    const series::CancelToken& cancel, std::atomic<double>& share)
{
    const auto a = reference.catalog();
    const auto b = a ? other.catalog() : a;
    if (!b)
        return tl::unexpected(b.error());
    const judge::ComparedRun ofA { reference, **a, stepsOf(*runs[0], **a) };
    const judge::ComparedRun ofB { other, **b, stepsOf(*runs[1], **b) };
    const bool isRecorded = isLive(runs[0]) || isLive(runs[1]);
    wish.cancel = cancel;
    wish.progress = [&share](double done) { share.store(done, std::memory_order_relaxed); };
    // Signs of gradients have steps of their own, so that the runs' would leave them out.
    if (after || isRecorded)
        wish.steps = StepRange { after ? Step { after->value + 1 } : std::max(ofA.steps->first, ofB.steps->first),
            Step { std::min(ofA.steps->last, ofB.steps->last).value - (isRecorded ? kLiveLag : 0) } };
    return judge::compareRuns(ofA, ofB, wish);
}

}

struct Conformance::Answer {
    Expected<judge::Comparison> found = failure(ErrorCode::Io, "the run gives no answer");
    std::vector<judge::DifferingFact> facts;
};

Conformance::Conformance(store::QueryPool* queries, QObject* parent)
    : QObject(parent)
    , m_queries(queries)
    , m_id(queries ? queries->newView() : 0)
{
    m_progress.setInterval(kTellMs);
    connect(&m_progress, &QTimer::timeout, this, &Conformance::changed);
}

Conformance::~Conformance()
{
    if (m_queries)
        m_queries->cancel(m_id);
}

void Conformance::ask(std::vector<store::RunRef> runs, std::size_t against, judge::ComparisonWish wish)
{
    items::assertGuiThread();
    forget();
    m_runs = std::move(runs);
    m_against = against;
    m_wish = std::move(wish);
    if (m_queries && against < m_runs.size())
        submit(false);
    else
        Q_EMIT changed();
}

void Conformance::askOnce(std::vector<store::RunRef> runs, std::size_t against, judge::ComparisonWish wish)
{
    if (runs != m_runs || against != m_against || wished(wish) != wished(m_wish))
        ask(std::move(runs), against, std::move(wish));
}

bool Conformance::hasLive() const
{
    return std::any_of(m_runs.begin(), m_runs.end(), [](const store::RunRef& run) { return run->isLive(); });
}

void Conformance::askMore()
{
    // One that has just begun may have had no step in common with the other.
    if (!m_isBusy && !m_isStopped && !m_runs.empty())
        submit(m_found.has_value());
}

void Conformance::submit(bool isMore)
{
    m_isBusy = true;
    m_share->store(0, std::memory_order_relaxed);
    if (!isMore)
        m_progress.start();
    const std::optional<Step> after = isMore ? std::optional(m_found->steps.last) : std::nullopt;
    m_queries->submit(m_id, m_runs[0],
        [this, runs = m_runs, against = m_against, wish = m_wish, after, isMore, share = m_share](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            auto answer = std::make_shared<Answer>();
            std::vector<judge::FactSheet> sheets;
            for (std::size_t i = 0; i < runs.size(); ++i) {
                const bool wantsFacts = !isMore && !wish.kind;
                if (!wantsFacts && i != against)
                    continue;
                // Two runs are read step by step beside each other, which the pool's one reader cannot.
                auto opened
                    = i == 0 ? Expected<std::unique_ptr<store::RunReader>>(nullptr) : store::openReader(*runs[i]);
                if (!reader || !opened) {
                    answer->found = tl::unexpected(reader ? opened.error() : reader.error());
                    break;
                }
                store::RunReader& here = i == 0 ? **reader : **opened;
                if (wantsFacts) {
                    auto sheet = judge::factSheetOf(here);
                    sheets.push_back(sheet ? std::move(*sheet) : judge::FactSheet());
                }
                if (i == against)
                    answer->found = compareWith(**reader, here, { runs[0], runs[i] }, wish, after, cancel, *share);
            }
            if (sheets.size() == runs.size())
                answer->facts = judge::differingFacts(sheets);
            return [this, answer, isMore] { take(*answer, isMore); };
        });
    Q_EMIT changed();
}

void Conformance::take(const Answer& answer, bool isMore)
{
    m_isBusy = false;
    m_progress.stop();
    if (!isMore) {
        m_facts = answer.facts;
        m_problem = answer.found ? QString() : items::saidwords::of(answer.found.error());
        if (answer.found)
            m_found = *answer.found;
    } else if (answer.found) { // without: no step has come since
        m_found->append(*answer.found);
    }
    Q_EMIT changed();
}

void Conformance::stop()
{
    if (!m_isBusy)
        return;
    m_queries->cancel(m_id);
    m_progress.stop();
    m_isBusy = false;
    m_isStopped = true;
    Q_EMIT changed();
}

void Conformance::clear()
{
    if (m_runs.empty())
        return;
    forget();
    Q_EMIT changed();
}

void Conformance::forget()
{
    if (m_queries)
        m_queries->cancel(m_id);
    m_progress.stop();
    m_isBusy = m_isStopped = false;
    m_found.reset();
    m_facts.clear();
    m_problem.clear();
    m_runs.clear();
}

}
