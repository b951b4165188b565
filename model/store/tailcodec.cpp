// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tailcodec.h>

#include <algorithm>
#include <cstring>

#include <telltale/store/byteparser.h>

namespace telltale::store {
namespace {

enum Form : std::uint8_t { kZero = 0, kFloat = 1, kDouble = 2, kInteger = 3 };

constexpr std::size_t kMaxCells = 1u << 20;

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

/// Reads an array, or with `values` null only looks that it is there.
template <typename T> bool parseValues(ByteParser& in, std::size_t count, std::vector<T>* values)
{
    if (count > in.left() / sizeof(T))
        return false;
    const std::string_view raw = in.take(count * sizeof(T));
    if (values && count > 0) {
        values->resize(count);
        std::memcpy(values->data(), raw.data(), raw.size());
    }
    return true;
}

template <typename T> bool parseValues(ByteParser& in, std::size_t count, Column* column)
{
    return parseValues(in, count, column ? &column->values.emplace<std::vector<T>>() : nullptr);
}

bool parseColumn(ByteParser& in, std::size_t count, StepBlock* block)
{
    const auto stat = static_cast<Stat>(in.number<std::uint8_t>());
    Column* column = block ? &block->columns.emplace_back() : nullptr;
    if (column)
        column->stat = stat;
    switch (in.number<std::uint8_t>()) {
    case kZero:
        if (column)
            column->values = std::vector<float>(count);
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

/// With `wanted` null, or where it says no, the values are passed over and `tail` has the head alone. False: damaged.
bool parseBlock(
    ByteParser& in, int version, TailBlock& tail, const std::function<bool(const TailBlock&)>* wanted, bool& isTaken)
{
    tail.layout.value = in.number<std::uint32_t>();
    tail.column = in.number<std::int64_t>();
    tail.block.step.value = in.number<std::int64_t>();
    tail.block.wallNs = in.number<std::int64_t>();
    const std::size_t series = tail.series = in.number<std::uint32_t>();
    tail.width = version == 1 ? 1 : in.number<std::uint8_t>();
    const std::size_t cells = series * tail.width;
    const std::size_t stats = tail.stats = in.number<std::uint8_t>();
    const bool hasPresence = in.number<std::uint8_t>() != 0;
    // A column of zeros costs no bytes, so the size of a block must be bounded by itself: no batch has more cells.
    if (in.failed() || series > kMaxCells || cells > kMaxCells || cells * stats > kMaxCells)
        return false;
    isTaken = wanted != nullptr && (*wanted)(tail);
    StepBlock* block = isTaken ? &tail.block : nullptr;
    if (hasPresence && !parseValues<std::uint64_t>(in, (series + 63) / 64, block ? &block->present : nullptr))
        return false;
    for (std::size_t s = 0; s < stats; ++s) {
        if (!parseColumn(in, cells, block))
            return false;
    }
    return true;
}

}

TailEncoder::TailEncoder()
{
    putLe(m_out, std::uint8_t { 2 });
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
    putLe(m_out, static_cast<std::uint8_t>(block.layout->width()));
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

Expected<void> decodeTail(std::string_view data, const std::function<bool(const TailBlock&)>& wanted,
    const std::function<void(TailBlock&)>& take)
{
    for (const bool isWhole : { false, true }) {
        ByteParser in(data);
        const int version = in.number<std::uint8_t>();
        bool isGood = version == 1 || version == 2;
        for (auto blocks = in.number<std::uint32_t>(); isGood && blocks > 0; --blocks) {
            TailBlock tail;
            bool isTaken = false;
            isGood = parseBlock(in, version, tail, isWhole ? &wanted : nullptr, isTaken);
            if (isGood && isTaken)
                take(tail);
        }
        if (!isGood || !in.atEnd())
            return failure(ErrorCode::Damaged, "a tail row of the capsule is damaged");
    }
    return {};
}

bool fits(const TailBlock& head, const SeriesLayout& layout)
{
    return head.series == layout.series.size() && head.width == layout.width() && head.stats == layout.stats.size();
}

}
