// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/lab/replay.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <telltale/judge/runjudge.h>

namespace telltale::lab {

Expected<std::shared_ptr<const LabRun::Judged>> LabRun::judgeAll(
    RememberingReader& reader, const judge::Rules& rules, const series::CancelToken& cancel, Result& result)
{
    constexpr std::size_t kKept = 4;
    auto catalog = reader.catalog();
    if (!catalog)
        return tl::unexpected<Error>(std::move(catalog.error()));
    {
        const std::lock_guard lock(m_mutex);
        const auto known = std::find_if(m_known.begin(), m_known.end(),
            [&](const auto& one) { return one->rules == rules && one->catalog == *catalog; });
        if (known != m_known.end()) {
            std::rotate(known, known + 1, m_known.end()); // what is asked for again stays longest
            return m_known.back();
        }
    }
    judge::RunJudge judge(rules);
    if (auto ok = judge.judgeAll(reader, cancel); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    result.judged = judge.judged();
    auto judged = std::make_shared<const Judged>(Judged { rules, *catalog, judge.incidents() });
    const std::lock_guard lock(m_mutex);
    m_known.push_back(judged);
    if (m_known.size() > kKept)
        m_known.erase(m_known.begin());
    return judged;
}

Expected<LabRun::Result> LabRun::replay(
    store::RunReader& reader, const std::string& dataDir, const judge::Rules* rules, const series::CancelToken& cancel)
{
    Result result;
    auto inForce = judge::rulesInForce(dataDir, &reader);
    if (!inForce)
        return tl::unexpected<Error>(std::move(inForce.error()));
    result.inForce = std::move(*inForce);
    auto truth = truthOf(reader);
    if (!truth)
        return tl::unexpected<Error>(std::move(truth.error()));
    result.truth = std::move(*truth);
    RememberingReader remembering(reader, m_memory);
    const auto before = judgeAll(remembering, result.inForce.rules, cancel, result);
    if (!before)
        return tl::unexpected<Error>(before.error());
    const auto began = std::chrono::steady_clock::now();
    const auto after = rules == nullptr ? before : judgeAll(remembering, *rules, cancel, result);
    if (!after)
        return tl::unexpected<Error>(after.error());
    result.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    result.comparison = compare(result.truth, (*before)->incidents, (*after)->incidents);
    result.after = (*after)->incidents;
    result.isWhole = m_memory.isWhole();
    return result;
}

}
