// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/core/bytes.h>

namespace telltale::store {

/// Reads numbers and texts one after the other from bytes that may be hostile: after the first read past the end
/// everything is 0 and empty, and failed() says so. Thread: its owner's.
class ByteParser {
public:
    explicit ByteParser(std::string_view bytes)
        : m_bytes(bytes)
    {
    }

    template <typename T> T number()
    {
        const std::string_view raw = take(sizeof(T));
        return raw.empty() ? T {} : getLe<T>(raw, 0);
    }
    std::string_view take(std::size_t size)
    {
        if (m_failed || size > m_bytes.size() - m_position) {
            m_failed = true;
            return {};
        }
        const std::string_view raw = m_bytes.substr(m_position, size);
        m_position += size;
        return raw;
    }
    std::string_view text() { return take(number<std::uint32_t>()); }
    std::size_t left() const { return m_failed ? 0 : m_bytes.size() - m_position; }
    bool failed() const { return m_failed; }
    bool atEnd() const { return !m_failed && m_position == m_bytes.size(); }

private:
    std::string_view m_bytes;
    std::size_t m_position = 0;
    bool m_failed = false;
};

}
