// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/attemptdiff.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <telltale/core/blockname.h>
#include <telltale/judge/wording.h>
#include <telltale/series/rowindex.h>

namespace telltale::judge {
namespace {

/// What a step found when it began, by what it is of.
using Found = std::map<std::uint32_t, double>; // by tensor

Expected<Found> foundAt(store::RunReader& reader, const Watchlist& list, Kind kind, Step step)
{
    std::vector<series::RowAttempts> rows;
    std::vector<std::uint32_t> tensors;
    for (const Watched& row : list.rows) {
        const bool isWanted = kind == Kind::Scalar ? row.role == ScalarRole::LearningRate : row.stat == Stat::Norm;
        if (row.kind != kind || !isWanted)
            continue;
        rows.push_back(row.attempts);
        tensors.push_back(row.tensor);
    }
    Found found;
    if (rows.empty())
        return found;
    const auto cells = reader.column(step, kind == Kind::Scalar ? Stat::Value : Stat::Norm, rows);
    if (!cells)
        return tl::unexpected<Error>(cells.error());
    for (std::size_t i = 0; i < cells->size(); ++i) {
        if ((*cells)[i].state == series::CellState::Value)
            found[tensors[i]] = (*cells)[i].value;
    }
    return found;
}

/// The tensor that has changed the most, where that is more than `factor`, and how many have.
struct Farthest {
    std::uint32_t tensor = 0;
    double before = 0;
    double now = 0;
    int count = 0;
};
Farthest farthestOf(const Found& before, const Found& now, double factor)
{
    Farthest farthest;
    double most = 0;
    for (const auto& [tensor, was] : before) {
        const auto is = now.find(tensor);
        if (is == now.end() || (was == 0 && is->second == 0))
            continue;
        const double far = was > 0 && is->second > 0 ? std::abs(std::log(is->second / was)) : HUGE_VAL;
        if (far <= std::log(factor))
            continue;
        ++farthest.count;
        if (far > most) {
            most = far;
            farthest = { tensor, was, is->second, farthest.count };
        }
    }
    return farthest;
}

class Difference {
public:
    Difference(const store::Catalog& catalog, const AttemptOf& now, const Rules& rules)
        : m_catalog(catalog)
        , m_now(now)
        , m_rules(rules)
    {
    }

    double factor(std::size_t parameter) const { return m_rules.value(Rule::Attempt, parameter); }

    /// The first that is said is where it is seen.
    void say(Kind kind, std::uint32_t tensor, Step step, const std::string& sentence, store::Severity severity)
    {
        if (!m_witness) {
            m_witness = Witness {};
            for (const Watched& row : m_now.list.rows) {
                if (row.kind != kind || row.tensor != tensor)
                    continue;
                const series::SeriesKey& key = m_catalog.rows->key(row.tensor);
                m_witness->moment = { step, row.phase, row.place };
                m_witness->block = kind == Kind::Scalar ? key.name : blockOf(key.name);
                Finding& finding = m_witness->finding;
                finding.rule = idOf(Rule::Attempt);
                finding.severity = store::Severity::Notice;
                finding.step = step;
                finding.rank = m_now.list.rank;
                finding.kind = kind;
                finding.name = key.name;
                finding.slot = key.slot.text();
                finding.stat = row.stat;
            }
            m_witness->seen = step;
        }
        Finding& finding = m_witness->finding;
        finding.sentence.append(finding.sentence.empty() ? "unlike the attempt before it, " : "; ").append(sentence);
        finding.severity = std::max(finding.severity, severity);
    }

    /// Of what was said: it is a learning rate above this one.
    void raised(double before)
    {
        if (m_witness)
            m_witness->rateBefore = before;
    }

    std::optional<Witness> take() { return std::move(m_witness); }

private:
    const store::Catalog& m_catalog;
    const AttemptOf& m_now;
    const Rules& m_rules;
    std::optional<Witness> m_witness;
};

}

Expected<std::optional<Witness>> differenceOf(store::RunReader& reader, const store::Catalog& catalog,
    const Rules& rules, const AttemptOf& before, const AttemptOf& now)
{
    Difference difference(catalog, now, rules);
    const Step first = now.steps.first;
    const bool isOverlap = before.steps.contains(first);
    const Step last = isOverlap ? first : before.steps.last;
    // Weights are what they were saved as; where the step was not lived through before, what the last one left.
    const bool isNext = last.value + 1 == first.value;
    const auto weightsBefore = foundAt(reader, before.list, isOverlap ? Kind::ParamOrigin : Kind::ParamUpdated, last);
    const auto weights = foundAt(reader, now.list, Kind::ParamOrigin, first);
    if (!weightsBefore || !weights)
        return tl::unexpected<Error>(!weights ? weights.error() : weightsBefore.error());
    if (const Farthest far = farthestOf(*weightsBefore, *weights, 1 + difference.factor(0));
        far.count > 0 && (isOverlap || isNext))
        difference.say(Kind::ParamOrigin, far.tensor, first,
            fmt::format("the norms of {} of {} weights are others: {}, and was {}", far.count, weightsBefore->size(),
                numberText(far.now), numberText(far.before)),
            store::Severity::Warning);
    const auto rateBefore = foundAt(reader, before.list, Kind::Scalar, last);
    const auto rate = foundAt(reader, now.list, Kind::Scalar, first);
    if (!rateBefore || !rate)
        return tl::unexpected<Error>(!rate ? rate.error() : rateBefore.error());
    // A schedule goes on from one step to the next, by little.
    const double rateFactor = isOverlap ? difference.factor(1) : std::max(2.0, difference.factor(1));
    if (const Farthest far = farthestOf(*rateBefore, *rate, rateFactor); far.count > 0) {
        difference.say(Kind::Scalar, far.tensor, first,
            fmt::format("the learning rate is {}, and was {}", numberText(far.now), numberText(far.before)),
            far.now > far.before ? store::Severity::Warning : store::Severity::Notice);
        if (far.now > far.before)
            difference.raised(far.before);
    }
    for (const auto& [kind, word] : { std::pair { Kind::ExpAvg, "first" }, std::pair { Kind::ExpAvgSq, "second" } }) {
        const auto was = foundAt(reader, before.list, kind, last);
        const auto is = foundAt(reader, now.list, kind, first);
        const auto next = foundAt(reader, now.list, kind, Step { first.value + 1 });
        if (!was || !is || !next)
            return tl::unexpected<Error>(!was ? was.error() : !is ? is.error() : next.error());
        const Farthest far = farthestOf(*was, *is, difference.factor(2));
        if (!was->empty() && is->empty() && !next->empty())
            difference.say(kind, next->begin()->first, first,
                fmt::format("the optimizer has no {} moments, which {} tensors had", word, was->size()),
                store::Severity::Warning);
        else if (isOverlap && far.count > 0)
            difference.say(kind, far.tensor, first,
                fmt::format("the {} moments of {} of {} tensors are others: {}, and was {}", word, far.count,
                    was->size(), numberText(far.now), numberText(far.before)),
                store::Severity::Warning);
    }
    return difference.take();
}

}
