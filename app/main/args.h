// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/ids.h>

namespace telltale::app {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1; ///< the work failed
inline constexpr int kExitUsage = 2; ///< wrong usage or bad input

/// One flag of a verb. With an empty `valueName` it is a switch.
struct Flag {
    std::string name; ///< with its dashes: "--json", "-o"
    std::string valueName; ///< "DIR"
    std::string help;
};

/// What a verb takes and how it introduces itself.
struct Usage {
    std::string line; ///< "telltale inspect CAPSULE [--verify] [--json]"
    std::string summary;
    std::vector<Flag> flags; ///< --help is everybody's
    std::size_t minPositionals = 0;
    std::size_t maxPositionals = 0;

    std::string help() const;
};

/// The words behind a verb, taken apart. Thread: any (a value).
class Args {
public:
    /// Flags and positionals in any order; `--flag value` and `--flag=value`; `--` ends the flags. An error is one
    /// sentence that names the word.
    static Expected<Args> parse(const Usage& usage, std::span<const std::string> words);

    bool wantsHelp() const { return has("--help"); }
    bool has(std::string_view flag) const { return m_values.find(flag) != m_values.end(); }
    std::optional<std::string> value(std::string_view flag) const;
    const std::vector<std::string>& positionals() const { return m_positionals; }

private:
    std::map<std::string, std::string, std::less<>> m_values;
    std::vector<std::string> m_positionals;
};

/// "31", "-2".
Expected<std::int64_t> parseInteger(std::string_view flag, std::string_view text);
/// A rank: a whole number from 0 on.
Expected<Rank> parseRank(std::string_view flag, std::string_view text);
/// "A:B" (both included), "A:", ":B", "A"; open ends reach as far as `all` does.
Expected<StepRange> parseSteps(std::string_view text, StepRange all);

}
