// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>
#include <telltale/judge/rules.h>
#include <telltale/store/logrecord.h>

namespace telltale::store {
class RunReader;
}

namespace telltale::judge {

/// The word of the log's records that say by which rules a run is judged from then on: the newest counts, of rank -1.
inline constexpr std::string_view kRulesRecord = "rules";

/// For StoreService::append. `step`: the run's last, from which on the rules count.
Event rulesEvent(const Rules& rules, Step step, std::string author, std::int64_t wallNs);

/// "level.z 6 → 8, loss off"; "" where nothing differs.
std::string changesBetween(const Rules& from, const Rules& to);

/// What a run's own log says of its rules, followed behind a cursor. Thread: any (a value).
class RunRules {
public:
    /// Reads what was added since the last call.
    Expected<void> update(store::RunReader& reader);
    /// Nothing where the run has none of its own.
    const std::optional<Rules>& rules() const { return m_rules; }
    Step since() const { return m_since; } ///< of rules()
    /// What is wrong with the newest record, which does not count; empty where it does.
    const std::string& problem() const { return m_problem; }

private:
    store::LogCursor m_cursor;
    std::optional<Rules> m_rules;
    Step m_since;
    std::string m_problem;
};

/// The rules that runs are judged by that have none of their own: a file of the data directory, or the standard ones
/// where there is none. A file with a problem changes nothing. Thread: any (a value).
class DefaultRules {
public:
    static std::string fileIn(const std::string& dataDir); ///< DIR/rules.json
    explicit DefaultRules(const std::string& dataDir);

    /// Reads the file if it is another one than at the last call. True: there is something new, rules or a problem.
    bool refresh();
    const Rules& rules() const { return m_rules; }
    bool isFile() const { return m_isFile; } ///< they are those of the file
    /// One sentence, while the file says nothing that counts.
    const std::string& problem() const { return m_problem; }

    /// Replaces the file as a whole.
    static Expected<void> save(const std::string& dataDir, const Rules& rules);

private:
    std::string m_path;
    std::string m_seen; ///< what tells the file from a later one
    Rules m_rules;
    bool m_isFile = false;
    std::string m_problem;
};

/// The rules that a run is judged by now.
struct RulesInForce {
    enum class From : std::uint8_t { Standard, Default, Run };
    Rules rules;
    From from = From::Standard;
    std::string problem; ///< what was passed over, and why: one sentence, or none
};
/// `reader`: of the run; null for a run that does not exist yet.
Expected<RulesInForce> rulesInForce(const std::string& dataDir, store::RunReader* reader);

}
