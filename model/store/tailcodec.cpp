// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tailcodec.h>

#include <algorithm>
#include <cstring>

#include <telltale/store/byteparser.h>

namespace telltale::store {
namespace {

enum Form : std::uint8_t { kZero = 0, kFloat = 1, kDouble = 2, kInteger = 3 };

template <typename T> constexpr Form formOf()
{
    if constexpr (std::is_same_v<T, float>)
        return kFloat;
    else
        return std::is_same_v<T, double> ? kDouble : kInteger;
}

template <typename T> bool isZero(const std::vector<T>& values)
{
    // The first cell decides nearly always; then the array is compared with itself, one cell on.
    // Bits, not numbers: -0 must come back as -0.
    const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
    const std::size_t size = values.size() * sizeof(T);
    return values.empty() || (std::all_of(bytes, bytes + sizeof(T), [](unsigned char byte) {
        return byte == 0;
    }) && std::memcmp(bytes, bytes + sizeof(T), size - sizeof(T)) == 0);
}

template <typename T> bool parseValues(ByteParser& in, std::size_t count, Column& column)
{
    if (count > in.left() / sizeof(T))
        return false;
    std::vector<T> values(count);
    const std::string_view raw = in.take(count * sizeof(T));
    std::memcpy(values.data(), raw.data(), raw.size());
    column.values = std::move(values);
    return true;
}

bool parseColumn(ByteParser& in, std::size_t count, Column& column)
{
    column.stat = static_cast<Stat>(in.number<std::uint8_t>());
    switch (in.number<std::uint8_t>()) {
    case kZero:
        column.values = std::vector<float>(count);
        return true;
    case kFloat:
        return parseValues<float>(in, count, column);
    case kDouble:
        return parseValues<double>(in, count, column);
    case kInteger:
        return parseValues<std::uint64_t>(in, count, column);
    default:
        return false;
    }
}

}

TailEncoder::TailEncoder()
{
    putLe(m_out, std::uint8_t { 1 });
    putLe(m_out, m_blocks);
}

void TailEncoder::append(const StepBlock& block, std::int64_t column)
{
    ++m_blocks;
    putLe(m_out, block.layout->id.value);
    putLe(m_out, column);
    putLe(m_out, block.step.value);
    putLe(m_out, block.wallNs);
    putLe(m_out, static_cast<std::uint32_t>(block.layout->series.size()));
    putLe(m_out, static_cast<std::uint8_t>(block.columns.size()));
    putLe(m_out, static_cast<std::uint8_t>(block.present.empty() ? 0 : 1));
    m_out.append(reinterpret_cast<const char*>(block.present.data()), block.present.size() * 8);
    for (const Column& values : block.columns) {
        putLe(m_out, static_cast<std::uint8_t>(values.stat));
        std::visit(
            [this]<typename T>(const std::vector<T>& v) {
                const bool zero = isZero(v);
                putLe(m_out, static_cast<std::uint8_t>(zero ? kZero : formOf<T>()));
                if (!zero)
                    m_out.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
            },
            values.values);
    }
}

std::string TailEncoder::take()
{
    std::memcpy(m_out.data() + 1, &m_blocks, sizeof m_blocks);
    return std::move(m_out);
}

Expected<std::vector<TailBlock>> decodeTail(std::string_view data)
{
    const auto damaged = [] { return failure(ErrorCode::Damaged, "a tail row of the capsule is damaged"); };
    ByteParser in(data);
    if (in.number<std::uint8_t>() != 1)
        return damaged();
    const auto count = in.number<std::uint32_t>();
    std::vector<TailBlock> blocks;
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        TailBlock tail;
        tail.layout.value = in.number<std::uint32_t>();
        tail.column = in.number<std::int64_t>();
        tail.block.step.value = in.number<std::int64_t>();
        tail.block.wallNs = in.number<std::int64_t>();
        const std::size_t series = in.number<std::uint32_t>();
        const std::size_t stats = in.number<std::uint8_t>();
        const bool hasPresence = in.number<std::uint8_t>() != 0;
        // A row of zeros costs no bytes, so the size of a block must be bounded by itself.
        if (series > (1u << 20))
            return damaged();
        if (hasPresence) {
            Column words;
            if (!parseValues<std::uint64_t>(in, (series + 63) / 64, words))
                return damaged();
            tail.block.present = std::get<std::vector<std::uint64_t>>(std::move(words.values));
        }
        for (std::size_t s = 0; s < stats; ++s) {
            Column column;
            if (!parseColumn(in, series, column))
                return damaged();
            tail.block.columns.push_back(std::move(column));
        }
        blocks.push_back(std::move(tail));
    }
    if (!in.atEnd())
        return damaged();
    return blocks;
}

}
