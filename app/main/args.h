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
#include <telltale/core/kinds.h>
#include <telltale/core/namepattern.h>

namespace telltale::app {

/// One option of a verb. With an empty `valueName` it is a switch; with one in brackets the value may be missing.
struct Flag {
    std::string name; ///< with its dashes: "--json", "-o"
    std::string valueName; ///< "DIR"
    std::string help;
    bool isRequired = false;
};

/// The words of a verb that are no options.
struct Words {
    std::string name = {}; ///< "CAPSULE", in the plural "CAPSULE..."
    std::size_t least = 0;
    std::size_t most = 0;
};

/// What stood behind a verb, taken apart. Thread: any (a value).
class Args {
public:
    /// Options and words in any order; `--flag value` and `--flag=value`, the last of several; `--` ends the options.
    /// Nothing is missing or too much. An error is one sentence that names the word.
    static Expected<Args> parse(const std::vector<Flag>& flags, const Words& words, std::span<const std::string> given);

    bool wantsHelp() const { return m_wantsHelp; }
    bool has(std::string_view flag) const { return m_values.find(flag) != m_values.end(); }
    std::optional<std::string> value(std::string_view flag) const;
    /// Of an option that may come several times: all of them, in order.
    std::vector<std::string> values(std::string_view flag) const;
    const std::vector<std::string>& positionals() const { return m_positionals; }

private:
    std::map<std::string, std::vector<std::string>, std::less<>> m_values;
    std::vector<std::string> m_positionals;
    bool m_wantsHelp = false;
};

/// "31", "-2".
Expected<std::int64_t> parseInteger(std::string_view flag, std::string_view text);
/// A rank: a whole number from 0 on.
Expected<Rank> parseRank(std::string_view flag, std::string_view text);
/// What `--rank` names; nothing where it is not given.
Expected<std::optional<Rank>> rankOf(const Args& args);
/// The ranks that a flag lists, "0,3"; none where it is not given.
Expected<std::vector<Rank>> ranksOf(const Args& args, std::string_view flag);
/// What `--kind` names; nothing where it is not given.
Expected<std::optional<Kind>> kindOf(const Args& args);
/// What `--stat` names; nothing where it is not given.
Expected<std::optional<Stat>> statOf(const Args& args);
/// What `--modules` chooses; everything where it is not given.
Expected<NamePattern> modulesOf(const Args& args);
/// "A:B" (both included), "A:", ":B", "A"; open ends reach as far as `all` does.
Expected<StepRange> parseSteps(std::string_view text, StepRange all);

}
