// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tilecodec.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include <telltale/core/bytes.h>
#include <telltale/store/tileformat.h>

namespace telltale::store {
namespace {

using series::PlaneType;

/// One sub-block, lane-major, in a buffer that the thread keeps.
template <typename T> void gather(const TilePlane& plane, int firstLane, int lanes, int columns, std::vector<T>& out)
{
    const auto n = static_cast<std::size_t>(columns);
    out.resize(static_cast<std::size_t>(lanes) * n);
    const T* in = static_cast<const T*>(plane.values) + static_cast<std::size_t>(firstLane) * plane.laneStride;
    if (plane.columnStride == 1) {
        for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane)
            std::memcpy(out.data() + lane * n, in + lane * plane.laneStride, n * sizeof(T));
        return;
    }
    for (std::size_t column = 0; column < n; ++column) {
        const T* from = in + column * plane.columnStride;
        for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane)
            out[lane * n + column] = from[lane * plane.laneStride];
    }
}

template <typename T> bool sameBits(T a, T b)
{
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

/// Appends the chunk and returns its directory entry.
template <typename T> std::uint32_t appendChunk(const std::vector<T>& cells, std::string& body, std::string& scratch)
{
    const T first = cells.front();
    if (std::all_of(cells.begin(), cells.end(), [first](T value) { return sameBits(value, first); })) {
        if (sameBits(first, T {}))
            return format::entry(format::kZero, 0);
        putLe(body, first);
        return format::entry(format::kConstant, sizeof(T));
    }
    const std::string_view raw(reinterpret_cast<const char*>(cells.data()), cells.size() * sizeof(T));
    byteShuffle(raw, sizeof(T), scratch);
    const std::size_t before = body.size();
    zstdAppend(scratch, body);
    const std::size_t packed = body.size() - before;
    if (packed > 0 && packed < raw.size())
        return format::entry(format::kPacked, packed);
    body.resize(before);
    body += raw;
    return format::entry(format::kRaw, raw.size());
}

std::uint32_t appendSteps(std::span<const Step> steps, std::string& body)
{
    const std::int64_t stride = steps.size() > 1 ? steps[1].value - steps[0].value : 1;
    bool arithmetic = true;
    for (std::size_t i = 1; i < steps.size(); ++i)
        arithmetic = arithmetic && steps[i].value - steps[i - 1].value == stride;
    if (arithmetic) {
        putLe(body, steps[0].value);
        putLe(body, stride);
        return format::entry(format::kConstant, 16);
    }
    std::string raw;
    std::uint64_t previous = 0;
    for (Step step : steps) {
        putLe(raw, static_cast<std::uint64_t>(step.value) - previous);
        previous = static_cast<std::uint64_t>(step.value);
    }
    std::string shuffled;
    byteShuffle(raw, 8, shuffled);
    const std::size_t before = body.size();
    zstdAppend(shuffled, body);
    return format::entry(format::kPacked, body.size() - before);
}

std::uint32_t appendPresence(const TilePlanes& tile, std::string& body)
{
    const std::size_t cells = static_cast<std::size_t>(tile.columns) * static_cast<std::size_t>(tile.lanes);
    std::string bits((cells + 7) / 8, '\0');
    for (std::size_t i = 0; i < cells; ++i) {
        if (tile.presence[i] != 0)
            bits[i / 8] = static_cast<char>(bits[i / 8] | (1 << (i % 8)));
    }
    const std::size_t before = body.size();
    zstdAppend(bits, body);
    if (body.size() - before < bits.size())
        return format::entry(format::kPacked, body.size() - before);
    body.resize(before);
    body += bits;
    return format::entry(format::kRaw, bits.size());
}

template <typename From, typename To> bool fits(From value)
{
    if constexpr (std::is_same_v<From, std::uint64_t>)
        return value <= format::kExactFloat;
    else
        return sameBits(static_cast<double>(static_cast<float>(value)), static_cast<double>(value));
}

/// A wide plane is stored as f32 when that loses nothing.
template <typename From> bool fitsFloat(const TilePlane& plane, const TilePlanes& tile)
{
    const From* in = static_cast<const From*>(plane.values);
    for (std::size_t column = 0; column < static_cast<std::size_t>(tile.columns); ++column) {
        for (std::size_t lane = 0; lane < static_cast<std::size_t>(tile.lanes); ++lane) {
            if (!fits<From, float>(in[lane * plane.laneStride + column * plane.columnStride]))
                return false;
        }
    }
    return true;
}

class Encoder {
public:
    explicit Encoder(const TilePlanes& tile)
        : m_tile(tile)
    {
    }

    std::string encode()
    {
        const bool hasPresence = m_tile.presence
            && std::memchr(m_tile.presence, 0,
                   static_cast<std::size_t>(m_tile.columns) * static_cast<std::size_t>(m_tile.lanes))
                != nullptr;
        putLe(m_head, format::kVersion);
        putLe(m_head, static_cast<std::uint8_t>(m_tile.planes.size()));
        putLe(m_head, static_cast<std::uint8_t>(m_tile.lanes));
        putLe(m_head,
            static_cast<std::uint8_t>(
                (hasPresence ? format::kHasPresence : 0) | (m_tile.lastSteps.empty() ? 0 : format::kHasLastSteps)));
        putLe(m_head, static_cast<std::uint16_t>(m_tile.columns));
        putLe(m_head, std::uint16_t { 0 });
        m_directory.push_back(appendSteps(m_tile.firstSteps, m_body));
        if (!m_tile.lastSteps.empty())
            m_directory.push_back(appendSteps(m_tile.lastSteps, m_body));
        if (hasPresence)
            m_directory.push_back(appendPresence(m_tile, m_body));
        for (const TilePlane& plane : m_tile.planes)
            appendPlane(plane);
        for (std::uint32_t entry : m_directory)
            putLe(m_head, entry);
        m_head += m_body;
        return std::move(m_head);
    }

private:
    void appendPlane(const TilePlane& plane)
    {
        switch (plane.type) {
        case PlaneType::Zero:
            describe(plane, PlaneType::F32);
            for (int lane = 0; lane < m_tile.lanes; lane += kSubBlockSeries)
                m_directory.push_back(format::entry(format::kZero, 0));
            break;
        case PlaneType::F32:
            describe(plane, PlaneType::F32);
            appendBlocks<float, float>(plane);
            break;
        case PlaneType::F64:
            if (fitsFloat<double>(plane, m_tile)) {
                describe(plane, PlaneType::F32);
                appendBlocks<double, float>(plane);
            } else {
                describe(plane, PlaneType::F64);
                appendBlocks<double, double>(plane);
            }
            break;
        case PlaneType::U64:
            if (plane.areBins) {
                appendTogether(plane);
                break;
            }
            // Not narrowed: the bytes of small whole numbers pack better than those of floats.
            describe(plane, PlaneType::U64);
            appendBlocks<std::uint64_t, std::uint64_t>(plane);
            break;
        }
    }

    void appendTogether(const TilePlane& plane)
    {
        thread_local std::vector<std::uint64_t> cells;
        gather(plane, 0, m_tile.lanes, m_tile.columns, cells);
        describe(plane, format::kTogether);
        const std::size_t before = m_body.size();
        PackedCounts::append(cells, m_tile.lanes, m_tile.columns, m_body);
        const std::size_t bytes = m_body.size() - before;
        m_directory.push_back(format::entry(bytes == 0 ? format::kZero : format::kRaw, bytes));
    }

    void describe(const TilePlane& plane, PlaneType stored) { describe(plane, static_cast<std::uint8_t>(stored)); }
    void describe(const TilePlane& plane, std::uint8_t type)
    {
        putLe(m_head, static_cast<std::uint8_t>(plane.role));
        putLe(m_head, type);
        putLe(m_head, std::uint16_t { 0 });
    }

    template <typename From, typename To> void appendBlocks(const TilePlane& plane)
    {
        thread_local std::vector<From> cells;
        for (int lane = 0; lane < m_tile.lanes; lane += kSubBlockSeries) {
            gather(plane, lane, std::min(kSubBlockSeries, m_tile.lanes - lane), m_tile.columns, cells);
            if constexpr (std::is_same_v<From, To>) {
                m_directory.push_back(appendChunk(cells, m_body, m_scratch));
            } else {
                std::vector<To> narrow(cells.size());
                std::transform(
                    cells.begin(), cells.end(), narrow.begin(), [](From value) { return static_cast<To>(value); });
                m_directory.push_back(appendChunk(narrow, m_body, m_scratch));
            }
        }
    }

    const TilePlanes& m_tile;
    std::string m_head;
    std::string m_body;
    std::string m_scratch;
    std::vector<std::uint32_t> m_directory;
};

}

std::string encodeTile(const TilePlanes& tile)
{
    return Encoder(tile).encode();
}

}
