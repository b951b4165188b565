// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/runreader.h>

namespace telltale::judge {

/// What is known of a run beside its measurements, one line a fact: (section, name) -> value, as JSON writes it. Lists
/// of plain values are one fact. Thread: any (a value).
class FactSheet {
public:
    using Facts = std::map<std::pair<std::string, std::string>, std::string>;

    /// Takes a JSON document apart: {"a": {"b": 1}} is the fact "a.b". False, and nothing added, where it is none.
    bool addDocument(const std::string& section, std::string_view json);
    void add(const std::string& section, const std::string& name, std::string value);
    const Facts& facts() const { return m_facts; }

private:
    Facts m_facts;
};

namespace factsection {
inline constexpr const char* kConfig = "config"; ///< what the training told last
inline constexpr const char* kRevisions = "revisions"; ///< changes of it while the run was recorded
inline constexpr const char* kHyperparameters = "hyperparameters";
inline constexpr const char* kEnvironment = "environment";
inline constexpr const char* kRun = "run"; ///< ranks, devices, how the model is spread, what was measured
}

/// Reads it from a run: what it says of itself (analysis::readRunDocument; the environment of its lowest rank), the
/// revisions that its log has, and its directory. What the run does not have is no fact. Thread: query.
Expected<FactSheet> factSheetOf(store::RunReader& reader);

/// A fact that is not the same in all runs. Thread: any (a value).
struct DifferingFact {
    std::string section;
    std::string name;
    std::vector<std::optional<std::string>> values; ///< of each run; nothing where it has no such fact
};

/// In the order config, revisions, hyperparameters, environment, run, what else there is; then by name.
std::vector<DifferingFact> differingFacts(std::span<const FactSheet> runs);

}
