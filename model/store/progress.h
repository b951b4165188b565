// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

struct sqlite3;

namespace telltale::store {

/// Told now and then which share of a work is done; false ends it with ErrorCode::Canceled, and nothing is left of it.
/// Null: nobody asks. Thread: the work's.
using Progress = std::function<bool(double share)>;

/// What of a whole a part of the work tells.
Progress partOf(const Progress& whole, double from, double to);

/// Asks `progress` while statements of a connection run, too: they end in an error where it says so. Thread: the
/// connection's.
class ProgressWatch {
public:
    ProgressWatch(sqlite3* db, const Progress& progress);
    ProgressWatch(const ProgressWatch&) = delete;
    ProgressWatch& operator=(const ProgressWatch&) = delete;
    ~ProgressWatch();

    /// Whether to go on.
    bool tell(double share);
    bool isCanceled() const { return m_isCanceled; }

private:
    sqlite3* m_db;
    const Progress& m_progress;
    double m_share = 0;
    bool m_isCanceled = false;
};

}
