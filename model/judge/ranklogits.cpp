// SPDX-License-Identifier: GPL-3.0-or-later
// The rule of a rank that looks at the largest logits of its attention heads.
#include <algorithm>
#include <cmath>
#include <limits>

#include <telltale/judge/rankjudge.h>

namespace telltale::judge {
namespace {

constexpr int kLogitsKnown = 100; ///< steps before a head's average means anything
constexpr float kLogitsSlow = 1.0F / 128; ///< what grows by 1 % a step leaves it behind by a factor of 3
constexpr double kLogitsYoung = 8; ///< so far below the level a young training only finds its sizes
constexpr float kLogitsLeap = 1; ///< of the logarithm, that one step may move it by: a spike hardly does

void countOn(std::uint16_t& number, bool isOne)
{
    number = !isOne ? std::uint16_t { 0 }
                    : static_cast<std::uint16_t>(number + (number < std::numeric_limits<std::uint16_t>::max() ? 1 : 0));
}

}

std::map<std::uint32_t, RankJudge::Logits> RankJudge::knownLogits() const
{
    std::map<std::uint32_t, Logits> known;
    for (std::size_t k = 0; k < m_logits.size(); ++k)
        known.emplace(m_list.rows[m_places.logits[k]].tensor, m_logits[k]);
    return known;
}

void RankJudge::takeLogits(const std::map<std::uint32_t, Logits>& known)
{
    m_logits.clear();
    for (const std::size_t i : m_places.logits) {
        const auto head = known.find(m_list.rows[i].tensor);
        m_logits.push_back(head == known.end() ? Logits {} : head->second);
    }
}

void RankJudge::judgeLogits(const StepColumn& column, std::vector<Sighting>& out)
{
    if (m_logits.empty() || column.extras.empty() || !isOn(Rule::MaxLogit))
        return;
    const double level = m_rules.value(Rule::MaxLogit, 0);
    const double factor = std::log(m_rules.value(Rule::MaxLogit, 1));
    const double lasting = m_rules.value(Rule::MaxLogit, 2);
    const double diverges = m_rules.value(Rule::MaxLogit, 3);
    for (std::size_t k = 0; k < m_logits.size(); ++k) {
        const std::size_t i = m_places.logits[k];
        Logits& head = m_logits[k];
        const auto logit = static_cast<double>(column.extras[i]);
        if (std::isnan(logit))
            continue; // not measured; what is not finite is another rule's
        const double log = logit > 0 ? std::log(logit) : -HUGE_VAL;
        const double before = static_cast<double>(head.level);
        const bool isOfSize = head.seen >= kLogitsKnown && logit >= level / kLogitsYoung;
        countOn(head.grown, isOfSize && log >= before + factor);
        countOn(head.high, head.grown > 0 && logit >= level);
        if (logit > 0) {
            const float leap = std::clamp(static_cast<float>(log - before), -kLogitsLeap, kLogitsLeap);
            head.level = head.seen == 0
                ? static_cast<float>(log)
                : head.level + leap * std::max(kLogitsSlow, 1.0F / static_cast<float>(head.seen + 1));
            countOn(head.seen, true);
        }
        const std::uint8_t now = static_cast<double>(head.high) < lasting ? 0 : logit < diverges ? 1 : 2;
        if (head.grown == 0)
            head.told = 0;
        if (now <= head.told)
            continue;
        head.told = now;
        // It began when it left what it was, not when it became large.
        Sighting seen = sighting(Rule::MaxLogit, i, stepBefore(head.grown - 1));
        seen.value = logit;
        seen.expected = std::exp(before);
        seen.lasted = head.grown;
        if (now == 2)
            seen.severity = store::Severity::Critical;
        out.push_back(seen);
    }
}

}
