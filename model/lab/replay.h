// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/judge/rulesinforce.h>
#include <telltale/lab/runmemory.h>
#include <telltale/lab/score.h>

namespace telltale::lab {

/// One run in the lab: what was read of it, and what the rules in force found. Thread: any; replays of one run may
/// overlap where one was canceled.
class LabRun {
public:
    struct Result {
        judge::RulesInForce inForce;
        Truth truth;
        Comparison comparison;
        std::vector<judge::Incident> after; ///< what the tried rules find
        std::uint64_t judged = 0; ///< values
        double ms = 0; ///< of the replay by the tried rules
        bool isWhole = true; ///< the run fits into memory
    };
    /// Judges the run by `rules`; without any, by those in force. `dataDir`: whose rules.json counts.
    Expected<Result> replay(store::RunReader& reader, const std::string& dataDir, const judge::Rules* rules,
        const series::CancelToken& cancel = {});
    std::size_t bytes() const { return m_memory.bytes(); }

private:
    struct Judged {
        judge::Rules rules;
        std::shared_ptr<const store::Catalog> catalog; ///< as the run was then
        std::vector<judge::Incident> incidents;
    };
    Expected<std::shared_ptr<const Judged>> judgeAll(
        RememberingReader& reader, const judge::Rules& rules, const series::CancelToken& cancel, Result& result);

    RunMemory m_memory;
    std::mutex m_mutex;
    std::vector<std::shared_ptr<const Judged>> m_known; ///< the newest, of few rules
};

}
