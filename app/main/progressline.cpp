// SPDX-License-Identifier: GPL-3.0-or-later
#include "progressline.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <telltale/core/plaintext.h>

namespace telltale::app {
namespace {

constexpr std::chrono::milliseconds kShownEvery { 100 };

std::size_t terminalWidth()
{
    winsize size {};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80U;
}

/// At most so many characters of UTF-8.
std::string cut(const std::string& text, std::size_t most)
{
    std::size_t characters = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80 && ++characters > most)
            return text.substr(0, at);
    }
    return text;
}

}

ProgressLine::ProgressLine(bool isQuiet)
    : m_isShown(!isQuiet && ::isatty(STDERR_FILENO) == 1)
    , m_last(Clock::now()) // what takes no time needs no line
{
}

void ProgressLine::show(const std::string& what, std::optional<double> share)
{
    const auto now = Clock::now();
    if (!m_isShown || now - m_last < kShownEvery)
        return;
    m_last = now;
    m_isThere = true;
    const std::string end = share ? fmt::format(" {:.0f} %", std::clamp(*share, 0.0, 1.0) * 100) : std::string();
    const std::string line = cut(terminalText(what), terminalWidth() - 1 - end.size()) + end;
    static_cast<void>(std::fprintf(stderr, "\r%s\x1b[K", line.c_str()));
    static_cast<void>(std::fflush(stderr));
}

void ProgressLine::clear()
{
    if (!m_isThere)
        return;
    m_isThere = false;
    static_cast<void>(std::fputs("\r\x1b[K", stderr));
    static_cast<void>(std::fflush(stderr));
}

}
