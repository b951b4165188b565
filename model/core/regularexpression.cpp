// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/core/regularexpression.h>

#include <stdexcept>

#include "pcrecode.h"

namespace telltale {

RegularExpression::RegularExpression(std::string_view expression, Letters letters)
{
    std::string error;
    m_code = pcre::compile(expression, letters == Letters::AnyCase ? PCRE2_CASELESS : 0, error);
    if (!m_code)
        throw std::invalid_argument(error);
}

std::vector<std::string> RegularExpression::match(std::string_view text) const
{
    const pcre::Match match = pcre::matchOf(m_code);
    // The interpreter, since compiled code does not know of a match that must be whole.
    const int found = pcre2_match(
        m_code.get(), pcre::bytesOf(text), text.size(), 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, match.get(), nullptr);
    std::vector<std::string> groups;
    if (found < 0)
        return groups;
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(match.get());
    for (std::uint32_t i = 0; i < pcre2_get_ovector_count(match.get()); ++i) {
        const bool tookPart = ends[2 * i] != PCRE2_UNSET;
        groups.emplace_back(tookPart ? text.substr(ends[2 * i], ends[2 * i + 1] - ends[2 * i]) : std::string_view());
    }
    return groups;
}

bool RegularExpression::isFoundIn(std::string_view text) const
{
    return pcre::find(m_code, pcre::matchOf(m_code), text, 0) != PCRE2_ERROR_NOMATCH;
}

std::string RegularExpression::replaced(std::string_view text, std::string_view with) const
{
    std::string out(text.size() + 256, '\0');
    for (;;) {
        PCRE2_SIZE size = out.size();
        const int count = pcre2_substitute(m_code.get(), pcre::bytesOf(text), text.size(), 0,
            PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH, nullptr, nullptr, pcre::bytesOf(with),
            with.size(), reinterpret_cast<PCRE2_UCHAR*>(out.data()), &size);
        if (count == PCRE2_ERROR_NOMEMORY && size != PCRE2_UNSET) {
            out.resize(size); // what it takes, with its end
            continue;
        }
        if (count < 0)
            throw std::runtime_error(pcre::sentenceOf(count));
        out.resize(size);
        return out;
    }
}

}
