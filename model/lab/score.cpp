// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/lab/score.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include <telltale/core/blockname.h>
#include <telltale/judge/rules.h>

namespace telltale::lab {
namespace {

using judge::Incident;

using Leads = std::vector<std::int64_t>;

std::optional<std::int64_t> medianOf(Leads leads)
{
    if (leads.empty())
        return {};
    std::sort(leads.begin(), leads.end());
    return leads[(leads.size() - 1) / 2];
}

bool holds(const std::vector<Incident>& all, const Incident& one)
{
    return std::any_of(all.begin(), all.end(), [&](const Incident& other) { return isSame(one, other); });
}

}

bool isSame(const Incident& a, const Incident& b)
{
    const bool isRank = a.first.rank == b.first.rank || a.first.rank.value < 0 || b.first.rank.value < 0;
    const bool isPlace = a.first.name == b.first.name
        || (a.first.kind != Kind::Scalar && b.first.kind != Kind::Scalar
            && blockOf(a.first.name) == blockOf(b.first.name));
    return isRank && isPlace && std::abs(a.first.step.value - b.first.step.value) <= kNearSteps;
}

Comparison compare(const Truth& truth, const std::vector<Incident>& before, const std::vector<Incident>& after)
{
    std::map<std::string, Score> scores;
    std::map<std::string, Leads> leads;
    Comparison found;
    Leads all;
    const auto count = [&](const std::string& rule, int Score::*what) {
        ++(scores[rule].*what);
        ++(found.all.*what);
    };
    for (const Incident& one : before) {
        count(one.first.rule, &Score::before);
        if (!holds(after, one))
            found.vanished.push_back(one);
    }
    for (const Incident& one : after) {
        count(one.first.rule, &Score::after);
        if (!holds(before, one))
            found.appeared.push_back(one);
        bool isTrue = false;
        bool isFalse = truth.isClean;
        for (const Incident& said : truth.labeled) {
            const bool isIt = isSame(one, said);
            isTrue = isTrue || (isIt && said.label == Incident::Label::True);
            isFalse = isFalse || (isIt && said.label == Incident::Label::False);
        }
        if (isFalse && !isTrue)
            count(one.first.rule, &Score::falseAlarms);
    }
    for (const Incident& said : truth.labeled) {
        if (said.label != Incident::Label::True)
            continue;
        const Incident* first = nullptr;
        for (const Incident& one : after) {
            if (isSame(one, said) && (first == nullptr || one.opened < first->opened))
                first = &one;
        }
        if (first == nullptr) {
            count(said.first.rule, &Score::missed);
            continue;
        }
        count(first->first.rule, &Score::hits);
        leads[first->first.rule].push_back(said.opened.value - first->opened.value);
        all.push_back(said.opened.value - first->opened.value);
    }
    found.all.lead = medianOf(all);
    for (const judge::RuleInfo& info : judge::ruleTable()) {
        const auto score = scores.find(std::string(info.id));
        if (score == scores.end())
            continue;
        score->second.rule = score->first;
        score->second.lead = medianOf(leads[score->first]);
        found.rules.push_back(score->second);
    }
    return found;
}

}
