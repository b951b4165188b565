// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/logrecord.h>

namespace telltale::judge {

/// The rules, in the order in which people are told of them.
enum class Rule : std::uint8_t {
    NonFinite,
    Overflow,
    Replica,
    Level,
    Loss,
    Drift,
    Vanished,
    Frozen,
    LossScale,
    EntropyCollapse,
    LearningRate,
    Straggler,
    Outlier,
    Attempt,
    Explosion,
    Staleness,
    UpdateRatio,
    DeadUnits,
    MaxLogit,
    NoiseScale,
};
inline constexpr std::size_t kRuleCount = 20;

/// A number that a rule is tuned by.
struct Parameter {
    std::string_view name;
    std::string_view description;
    double standard = 0;
    double least = 0;
    double most = 0;
};

/// One row of the table of rules. Thread: any (constant).
struct RuleInfo {
    Rule rule;
    std::string_view id; ///< "nonfinite": in records, on the command line, in a rules document
    std::string_view title;
    std::string_view description; ///< what it looks at, and where its numbers come from
    std::array<Parameter, 4> parameters; ///< those without a name are none
    bool isOn = true; ///< where nobody says otherwise
};
const std::array<RuleInfo, kRuleCount>& ruleTable();
const RuleInfo& infoOf(Rule rule);
std::optional<Rule> ruleFromId(std::string_view id);
inline std::string_view idOf(Rule rule)
{
    return infoOf(rule).id;
}

/// What more is collected for a while where a rule opens an incident. Thread: any (a value).
struct Escalation {
    std::string config {}; ///< JSON of the config's fields that it sets; "" = there is none
    std::int64_t steps = 0; ///< then what was collected before is again
    std::int64_t times = 0; ///< at most, in a run; 0 = every time that it opens one
    bool operator==(const Escalation&) const = default;
};

/// What is wrong with a rules document, and where: "/rules/level/z". Thread: any (a value).
struct RulesProblem {
    std::string pointer;
    std::string sentence;
};

/// Which rules are asked and how they are tuned. Thread: any (a value).
class Rules {
public:
    Rules();
    /// {"rules": {"level": {"on": true, "z": 6}}}; what is not named keeps its standard. BadInput says every problem.
    static Expected<Rules> fromJson(const std::string& text);
    /// The same; what has a problem keeps its standard.
    static Rules fromJson(const std::string& text, std::vector<RulesProblem>& problems);
    std::string toJson() const; ///< all of them
    static std::string schema(); ///< of the document, as JSON Schema

    bool isOn(Rule rule) const { return m_values[static_cast<std::size_t>(rule)].isOn; }
    /// By its place in RuleInfo::parameters.
    double value(Rule rule, std::size_t parameter) const
    {
        return m_values[static_cast<std::size_t>(rule)].numbers[parameter];
    }
    /// None unless somebody wrote it.
    const Escalation& escalation(Rule rule) const { return m_values[static_cast<std::size_t>(rule)].escalation; }
    /// As a document may have it.
    void setEscalation(Rule rule, Escalation more)
    {
        m_values[static_cast<std::size_t>(rule)].escalation = std::move(more);
    }
    void setOn(Rule rule, bool on) { m_values[static_cast<std::size_t>(rule)].isOn = on; }
    /// Within what its row of the table allows.
    void setValue(Rule rule, std::size_t parameter, double value)
    {
        m_values[static_cast<std::size_t>(rule)].numbers[parameter] = value;
    }
    bool operator==(const Rules&) const = default;

private:
    struct Values {
        bool isOn = true;
        std::array<double, 4> numbers {};
        Escalation escalation {};
        bool operator==(const Values&) const = default;
    };
    std::array<Values, kRuleCount> m_values;
};

}
