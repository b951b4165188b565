// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace telltale::exchange {

/// Goes through the fields of a protobuf message, whatever its bytes are. Thread: one.
class WireFields {
public:
    explicit WireFields(std::string_view bytes)
        : m_at(bytes.data())
        , m_end(bytes.data() + bytes.size())
    {
    }

    /// The next field; false behind the last, and where the bytes are no message.
    bool next()
    {
        if (m_at >= m_end)
            return false;
        std::uint64_t key = 0;
        if (!varint(key))
            return fail();
        field = static_cast<std::uint32_t>(key >> 3);
        switch (key & 7U) {
        case 0:
            sized = {};
            return varint(number) || fail();
        case 1:
            return fixed(8);
        case 2:
            if (!varint(number) || number > static_cast<std::uint64_t>(m_end - m_at))
                return fail();
            sized = { m_at, static_cast<std::size_t>(number) };
            m_at += number;
            return true;
        case 5:
            return fixed(4);
        default:
            return fail();
        }
    }
    bool isBroken() const { return m_isBroken; }

    std::uint32_t field = 0;
    std::uint64_t number = 0; ///< of a varint, or the bits of a fixed field
    std::string_view sized; ///< of a field with a length

    double asDouble() const { return std::bit_cast<double>(number); }
    float asFloat() const { return std::bit_cast<float>(static_cast<std::uint32_t>(number)); }

private:
    bool varint(std::uint64_t& value)
    {
        value = 0;
        for (unsigned shift = 0; shift < 64 && m_at < m_end; shift += 7) {
            const auto byte = static_cast<unsigned char>(*m_at++);
            value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
            if (byte < 0x80)
                return true;
        }
        return false;
    }
    bool fixed(std::size_t width)
    {
        if (static_cast<std::size_t>(m_end - m_at) < width)
            return fail();
        number = 0;
        std::memcpy(&number, m_at, width);
        m_at += width;
        sized = {};
        return true;
    }
    bool fail()
    {
        m_isBroken = true;
        m_at = m_end;
        return false;
    }

    const char* m_at;
    const char* m_end;
    bool m_isBroken = false;
};

}
