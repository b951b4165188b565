// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminalstream.h"

#include <string_view>

#include <telltale/core/plaintext.h>

namespace telltale::app {
namespace {

/// Bytes at the end of `text` that may be the beginning of a character whose rest is not written yet.
std::size_t unfinished(std::string_view text)
{
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if (byte >= 0xC0)
            return utf8SequenceLength(text.substr(text.size() - back)) == 0 ? back : 0;
        if (byte < 0x80)
            return 0;
    }
    return 0;
}

}

TerminalStream::TerminalStream(std::ostream& stream)
    : m_stream(stream)
    , m_target(stream.rdbuf(this))
{
}

TerminalStream::~TerminalStream()
{
    pass(true);
    m_stream.rdbuf(m_target);
}

TerminalStream::int_type TerminalStream::overflow(int_type c)
{
    if (traits_type::eq_int_type(c, traits_type::eof()))
        return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

std::streamsize TerminalStream::xsputn(const char* text, std::streamsize size)
{
    m_pending.append(text, static_cast<std::size_t>(size));
    return pass(false) ? size : 0;
}

int TerminalStream::sync()
{
    return m_target->pubsync();
}

bool TerminalStream::pass(bool isEnd)
{
    const std::size_t kept = isEnd ? 0 : unfinished(m_pending);
    std::string_view rest = std::string_view(m_pending).substr(0, m_pending.size() - kept);
    std::string shown;
    shown.reserve(rest.size());
    while (!rest.empty()) {
        const std::size_t cut = rest.find_first_of("\n\t");
        shown += terminalText(rest.substr(0, cut));
        if (cut == std::string_view::npos)
            break;
        shown += rest[cut];
        rest.remove_prefix(cut + 1);
    }
    m_pending.erase(0, m_pending.size() - kept);
    const auto size = static_cast<std::streamsize>(shown.size());
    return m_target->sputn(shown.data(), size) == size;
}

}
