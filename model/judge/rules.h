// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
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
};
inline constexpr std::size_t kRuleCount = 11;

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
};
const std::array<RuleInfo, kRuleCount>& ruleTable();
const RuleInfo& infoOf(Rule rule);
inline std::string_view idOf(Rule rule)
{
    return infoOf(rule).id;
}

/// Which rules are asked and how they are tuned. Thread: any (a value).
class Rules {
public:
    Rules();
    /// {"rules": {"level": {"on": true, "z": 6}}}; what is not named keeps its standard. BadInput says every problem.
    static Expected<Rules> fromJson(const std::string& text);
    std::string toJson() const; ///< all of them
    static std::string schema(); ///< of the document, as JSON Schema

    bool isOn(Rule rule) const { return m_values[static_cast<std::size_t>(rule)].isOn; }
    /// By its place in RuleInfo::parameters.
    double value(Rule rule, std::size_t parameter) const
    {
        return m_values[static_cast<std::size_t>(rule)].numbers[parameter];
    }
    bool operator==(const Rules&) const = default;

private:
    struct Values {
        bool isOn = true;
        std::array<double, 4> numbers {};
        bool operator==(const Values&) const = default;
    };
    std::array<Values, kRuleCount> m_values;
};

}
