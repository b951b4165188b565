// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/peerlog.h>

#include <telltale/core/plaintext.h>

namespace telltale::server {
namespace {

constexpr std::size_t kMaxEscaped = 200;

}

std::string escaped(std::string_view bytes)
{
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (out.size() >= kMaxEscaped) {
            out += "...";
            break;
        }
        if (byte >= 0x20 && byte < 0x7f && c != '\\')
            out.push_back(c);
        else
            out += { '\\', 'x', kHex[byte >> 4], kHex[byte & 15] };
    }
    return out;
}

void PeerLog::refused(const std::string& address, const std::string& kind, std::string_view what, Clock::time_point now)
{
    m_home.check();
    const auto held = m_gate.pass(address + '\n' + kind, now);
    if (held && m_sink)
        m_sink(address + ": " + escaped(what) + moreText(*held));
}

void PeerLog::finish()
{
    if (!m_sink)
        return;
    m_gate.drain([this](const std::string& key, std::uint64_t held) {
        m_sink(key.substr(0, key.find('\n')) + ": the last reason (" + key.substr(key.find('\n') + 1) + ") came "
            + countText(held, "more time", "more times"));
    });
    if (const auto crowded = m_gate.takeCrowded(); crowded > 0)
        m_sink(countText(crowded, "refusal", "refusals") + " of other peers had no line");
}

}
