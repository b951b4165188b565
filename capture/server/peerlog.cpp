// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/peerlog.h>

namespace telltale::server {
namespace {

constexpr std::size_t kMaxEscaped = 200;
/// Many addresses may knock in an interval; memory for them is bounded, and so are the lines.
constexpr std::size_t kMaxEntries = 1024;

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

bool PeerLog::refused(const std::string& address, const std::string& kind, std::string_view what, Clock::time_point now)
{
    const auto key = std::make_pair(address, kind);
    auto found = m_entries.find(key);
    if (found != m_entries.end() && now - found->second.last < m_interval) {
        ++found->second.suppressed;
        return false;
    }
    if (found == m_entries.end()) {
        if (m_entries.size() >= kMaxEntries)
            std::erase_if(m_entries, [&](const auto& entry) { return now - entry.second.last >= m_interval; });
        if (m_entries.size() >= kMaxEntries)
            return false;
        found = m_entries.emplace(key, Entry {}).first;
    }
    std::string line = address + ": " + escaped(what);
    if (found->second.suppressed != 0)
        line += " (" + std::to_string(found->second.suppressed) + " more since the last line)";
    found->second = { now, 0 };
    if (m_sink)
        m_sink(line);
    return true;
}

}
