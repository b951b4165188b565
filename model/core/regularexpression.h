// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace telltale {

/// A regular expression of this program's own, as Perl's, over bytes. std::regex recurses once a character (a text of
/// 100 kB ends the program) and costs seconds in each file that includes it. Thread: any (a value; one may be used by
/// several threads at once).
class RegularExpression {
public:
    enum class Letters { AsWritten, AnyCase };

    /// \throws std::invalid_argument where it is no expression
    explicit RegularExpression(std::string_view expression, Letters letters = Letters::AsWritten);

    /// The whole text and then its groups, those that took no part empty; nothing where the whole text does not match,
    /// or takes too long to.
    std::vector<std::string> match(std::string_view text) const;
    /// Also where that takes too long to tell: who looks for secrets hides one too many.
    bool isFoundIn(std::string_view text) const;
    /// The text with `with`, in which $1 is a group, for each match.
    /// \throws std::runtime_error where that takes too long or too much memory
    std::string replaced(std::string_view text, std::string_view with) const;

private:
    std::shared_ptr<const pcre2_real_code_8> m_code;
};

}
