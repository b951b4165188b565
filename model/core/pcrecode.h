// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/// PCRE2's objects as values of C++, for those files of this folder that use it.
namespace telltale::pcre {

using Code = std::shared_ptr<const pcre2_code>;
using Match = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

inline PCRE2_SPTR bytesOf(std::string_view text)
{
    return reinterpret_cast<PCRE2_SPTR>(text.data());
}

/// PCRE2's own words for one of its errors.
inline std::string sentenceOf(int problem)
{
    std::array<PCRE2_UCHAR, 256> message {};
    pcre2_get_error_message(problem, message.data(), message.size());
    return reinterpret_cast<const char*>(message.data());
}

/// Null, and PCRE2's own sentence in `error`, where the expression is none.
inline Code compile(std::string_view expression, std::uint32_t options, std::string& error)
{
    int problem = 0;
    PCRE2_SIZE at = 0;
    pcre2_code* const code = pcre2_compile(bytesOf(expression), expression.size(), options, &problem, &at, nullptr);
    if (!code) {
        error = sentenceOf(problem);
        return nullptr;
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); // where it cannot, matching only is slower
    return Code(code, [](const pcre2_code* one) { pcre2_code_free(const_cast<pcre2_code*>(one)); });
}

inline Match matchOf(const Code& code)
{
    return { pcre2_match_data_create_from_pattern(code.get(), nullptr), &pcre2_match_data_free };
}

/// How many groups matched and one, at or after `from`; negative: no match, or one that takes too long to find.
inline int find(const Code& code, const Match& match, std::string_view text, std::size_t from)
{
    return pcre2_match(code.get(), bytesOf(text), text.size(), from, 0, match.get(), nullptr);
}

}
