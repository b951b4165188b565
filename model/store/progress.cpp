// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/progress.h>

#include <sqlite3.h>

namespace telltale::store {
namespace {

constexpr int kStepsBetween = 10'000; ///< of SQLite's machine: about a millisecond

}

Progress partOf(const Progress& whole, double from, double to)
{
    if (!whole)
        return {};
    return [whole, from, to](double share) { return whole(from + (to - from) * share); };
}

ProgressWatch::ProgressWatch(sqlite3* db, const Progress& progress)
    : m_db(db)
    , m_progress(progress)
{
    if (!m_progress)
        return;
    const auto ask = [](void* self) {
        auto* watch = static_cast<ProgressWatch*>(self);
        return watch->tell(watch->m_share) ? 0 : 1;
    };
    sqlite3_progress_handler(m_db, kStepsBetween, ask, this);
}

ProgressWatch::~ProgressWatch()
{
    sqlite3_progress_handler(m_db, 0, nullptr, nullptr);
}

bool ProgressWatch::tell(double share)
{
    m_share = share;
    m_isCanceled = m_isCanceled || (m_progress && !m_progress(share));
    return !m_isCanceled;
}

}
