// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/tilecodec.h>

#include <algorithm>

#include <telltale/core/bytes.h>
#include <telltale/store/tileformat.h>

namespace telltale::store {
namespace {

using series::PlaneType;

tl::unexpected<Error> damaged(const char* what)
{
    return failure(ErrorCode::Damaged, std::string("the tile is damaged: ") + what);
}

std::size_t widthOf(PlaneType type)
{
    return type == PlaneType::F32 ? 4 : 8;
}

double elementAt(PlaneType type, std::string_view bytes)
{
    if (type == PlaneType::F32)
        return static_cast<double>(getLe<float>(bytes, 0));
    return type == PlaneType::F64 ? getLe<double>(bytes, 0) : static_cast<double>(getLe<std::uint64_t>(bytes, 0));
}

Expected<std::vector<Step>> decodeSteps(std::uint32_t encoding, std::string_view bytes, std::size_t columns)
{
    std::vector<Step> steps(columns);
    if (encoding == format::kConstant && bytes.size() == 16) {
        auto step = getLe<std::uint64_t>(bytes, 0);
        const auto stride = getLe<std::uint64_t>(bytes, 8);
        for (Step& out : steps) {
            out.value = static_cast<std::int64_t>(step);
            step += stride;
        }
        return steps;
    }
    if (encoding != format::kPacked)
        return damaged("its steps have an unknown form");
    std::string shuffled(columns * 8, '\0');
    if (auto ok = zstdInto(bytes, shuffled.data(), shuffled.size()); !ok)
        return tl::unexpected<Error>(ok.error());
    std::string raw;
    byteUnshuffle(shuffled, 8, raw);
    std::uint64_t step = 0;
    for (std::size_t i = 0; i < columns; ++i) {
        step += getLe<std::uint64_t>(raw, i * 8);
        steps[i].value = static_cast<std::int64_t>(step);
    }
    return steps;
}

/// Walks the directory and hands out the chunks it describes, never past the end.
class Chunks {
public:
    Chunks(std::string_view blob, std::size_t directory, std::size_t entries)
        : m_blob(blob)
        , m_entry(directory)
        , m_chunk(directory + entries * 4)
    {
    }

    bool next(std::uint32_t& encoding, std::string_view& bytes)
    {
        const auto entry = getLe<std::uint32_t>(m_blob, m_entry);
        m_entry += 4;
        encoding = format::encodingOf(entry);
        const std::size_t size = format::bytesOf(entry);
        if (encoding > format::kRaw || size > m_blob.size() - m_chunk)
            return false;
        bytes = m_blob.substr(m_chunk, size);
        m_chunk += size;
        return true;
    }
    bool atEnd() const { return m_chunk == m_blob.size(); }

private:
    std::string_view m_blob;
    std::size_t m_entry;
    std::size_t m_chunk;
};

}

Expected<TileView> openTile(std::string_view blob)
{
    if (blob.size() < 8 || getLe<std::uint8_t>(blob, 0) != format::kVersion)
        return damaged("unknown head");
    TileView view;
    const std::size_t planes = getLe<std::uint8_t>(blob, 1);
    view.m_lanes = getLe<std::uint8_t>(blob, 2);
    const unsigned flags = getLe<std::uint8_t>(blob, 3);
    view.m_columns = getLe<std::uint16_t>(blob, 4);
    if (planes == 0 || planes > 9 || view.m_lanes == 0 || view.m_lanes > series::kTileSeries || view.m_columns == 0
        || view.m_columns > series::kTileColumns || flags > (format::kHasPresence | format::kHasLastSteps))
        return damaged("impossible size");
    const auto columns = static_cast<std::size_t>(view.m_columns);
    const auto subBlocks = static_cast<std::size_t>(view.subBlocks());
    const bool hasPresence = (flags & format::kHasPresence) != 0;
    const bool hasLast = (flags & format::kHasLastSteps) != 0;
    const std::size_t directory = 8 + planes * 4;
    std::size_t entries = 1 + (hasLast ? 1u : 0u) + (hasPresence ? 1u : 0u);
    for (std::size_t p = 0; p < planes && blob.size() >= directory; ++p)
        entries += getLe<std::uint8_t>(blob, 9 + p * 4) == format::kTogether ? 1 : subBlocks;
    if (blob.size() < directory + entries * 4)
        return damaged("it is cut short");

    Chunks chunks(blob, directory, entries);
    std::uint32_t encoding = 0;
    std::string_view bytes;
    for (std::vector<Step>* steps : { &view.m_firstSteps, &view.m_lastSteps }) {
        if (steps == &view.m_lastSteps && !hasLast)
            continue;
        if (!chunks.next(encoding, bytes))
            return damaged("its steps are cut short");
        auto decoded = decodeSteps(encoding, bytes, columns);
        if (!decoded)
            return tl::unexpected<Error>(std::move(decoded.error()));
        *steps = std::move(*decoded);
    }
    if (hasPresence) {
        if (!chunks.next(encoding, bytes))
            return damaged("its presence map is cut short");
        view.m_presence.resize((columns * static_cast<std::size_t>(view.m_lanes) + 7) / 8);
        if (encoding == format::kRaw && bytes.size() == view.m_presence.size())
            view.m_presence = bytes;
        else if (encoding != format::kPacked || !zstdInto(bytes, view.m_presence.data(), view.m_presence.size()))
            return damaged("its presence map cannot be read");
    }
    for (std::size_t p = 0; p < planes; ++p) {
        TileView::Plane plane;
        const auto role = getLe<std::uint8_t>(blob, 8 + p * 4);
        const auto type = getLe<std::uint8_t>(blob, 9 + p * 4);
        if (role > static_cast<std::uint8_t>(PlaneRole::Sum) || type == 0 || type > format::kTogether)
            return damaged("unknown plane");
        plane.role = static_cast<PlaneRole>(role);
        if (type == format::kTogether) {
            plane.type = PlaneType::U64;
            if (!chunks.next(encoding, bytes) || (bytes.empty() ? encoding != format::kZero : encoding != format::kRaw))
                return damaged("its counts are cut short");
            auto counts = PackedCounts::read(bytes, view.m_lanes, view.m_columns);
            if (!counts)
                return tl::unexpected<Error>(std::move(counts.error()));
            plane.together = std::make_shared<const PackedCounts>(std::move(*counts));
            view.m_planes.push_back(std::move(plane));
            continue;
        }
        plane.type = static_cast<PlaneType>(type);
        for (std::size_t s = 0; s < subBlocks; ++s) {
            if (!chunks.next(encoding, bytes))
                return damaged("a plane is cut short");
            const std::size_t raw
                = static_cast<std::size_t>(view.lanesOf(static_cast<int>(s))) * columns * widthOf(plane.type);
            const bool sizeFits = encoding == format::kPacked
                || bytes.size()
                    == (encoding == format::kZero           ? 0
                            : encoding == format::kConstant ? widthOf(plane.type)
                                                            : raw);
            if (!sizeFits)
                return damaged("a plane has an impossible size");
            plane.chunks.push_back({ static_cast<std::uint8_t>(encoding), bytes });
        }
        view.m_planes.push_back(std::move(plane));
    }
    if (!chunks.atEnd())
        return damaged("bytes after its end");
    return view;
}

int TileView::lanesOf(int subBlock) const
{
    return std::min(kSubBlockSeries, m_lanes - subBlock * kSubBlockSeries);
}

int TileView::planeIndex(PlaneRole role) const
{
    for (std::size_t i = 0; i < m_planes.size(); ++i) {
        if (m_planes[i].role == role)
            return static_cast<int>(i);
    }
    return -1;
}

PlaneType TileView::planeType(PlaneRole role) const
{
    const int index = planeIndex(role);
    return index < 0 ? PlaneType::Zero : m_planes[static_cast<std::size_t>(index)].type;
}

std::optional<double> TileView::constant(PlaneRole role, int subBlock) const
{
    const int index = planeIndex(role);
    if (index < 0)
        return std::nullopt;
    const Plane& plane = m_planes[static_cast<std::size_t>(index)];
    if (plane.together) {
        for (int lane = subBlock * kSubBlockSeries, end = lane + lanesOf(subBlock); lane < end; ++lane) {
            if (!plane.together->isZero(lane))
                return std::nullopt;
        }
        return 0.0;
    }
    const Chunk& chunk = plane.chunks[static_cast<std::size_t>(subBlock)];
    if (chunk.encoding == format::kZero)
        return 0.0;
    return chunk.encoding == format::kConstant ? std::optional(elementAt(plane.type, chunk.bytes)) : std::nullopt;
}

bool TileView::isPresent(int lane, int column) const
{
    if (m_presence.empty())
        return true;
    const auto bit
        = static_cast<std::size_t>(lane) + static_cast<std::size_t>(column) * static_cast<std::size_t>(m_lanes);
    return ((static_cast<unsigned char>(m_presence[bit / 8]) >> (bit % 8)) & 1u) != 0;
}

Expected<void> TileView::decodeRaw(const Plane& plane, int subBlock, char* out) const
{
    if (plane.together) {
        auto* counts = reinterpret_cast<std::uint64_t*>(out); // as every caller's are
        for (int lane = 0; lane < lanesOf(subBlock); ++lane)
            plane.together->lane(subBlock * kSubBlockSeries + lane, counts + lane * m_columns);
        return {};
    }
    const Chunk& chunk = plane.chunks[static_cast<std::size_t>(subBlock)];
    const std::size_t width = widthOf(plane.type);
    const std::size_t cells = static_cast<std::size_t>(lanesOf(subBlock)) * static_cast<std::size_t>(m_columns);
    switch (chunk.encoding) {
    case format::kZero:
        std::fill_n(out, cells * width, '\0');
        return {};
    case format::kConstant:
        for (std::size_t i = 0; i < cells; ++i)
            std::copy_n(chunk.bytes.data(), width, out + i * width);
        return {};
    case format::kRaw:
        std::copy_n(chunk.bytes.data(), cells * width, out);
        return {};
    default:
        break;
    }
    thread_local std::string shuffled;
    shuffled.resize(cells * width);
    if (auto ok = zstdInto(chunk.bytes, shuffled.data(), shuffled.size()); !ok)
        return ok;
    byteUnshuffleTo(shuffled, width, out);
    return {};
}

template <typename T> Expected<void> TileView::decodeAs(PlaneRole role, int subBlock, T* out) const
{
    const int index = planeIndex(role);
    if (index < 0 || subBlock < 0 || subBlock >= subBlocks())
        return failure(ErrorCode::BadInput, "the tile has no such plane");
    const Plane& plane = m_planes[static_cast<std::size_t>(index)];
    const std::size_t cells = static_cast<std::size_t>(lanesOf(subBlock)) * static_cast<std::size_t>(m_columns);
    const auto widen = [&]<typename Stored>(std::vector<Stored>& buffer) -> Expected<void> {
        buffer.resize(cells);
        if (auto ok = decodeRaw(plane, subBlock, reinterpret_cast<char*>(buffer.data())); !ok)
            return ok;
        std::transform(buffer.begin(), buffer.end(), out, [](Stored value) { return static_cast<T>(value); });
        return {};
    };
    if (plane.type == PlaneType::F32) {
        if constexpr (std::is_same_v<T, float>)
            return decodeRaw(plane, subBlock, reinterpret_cast<char*>(out));
        thread_local std::vector<float> floats;
        return widen(floats);
    }
    if (plane.type == PlaneType::F64) {
        if constexpr (std::is_same_v<T, double>)
            return decodeRaw(plane, subBlock, reinterpret_cast<char*>(out));
        thread_local std::vector<double> doubles;
        return widen(doubles);
    }
    if constexpr (std::is_same_v<T, std::uint64_t>)
        return decodeRaw(plane, subBlock, reinterpret_cast<char*>(out));
    thread_local std::vector<std::uint64_t> integers;
    return widen(integers);
}

Expected<void> TileView::decode(PlaneRole role, int subBlock, double* out) const
{
    return decodeAs(role, subBlock, out);
}

Expected<void> TileView::decodeFloats(PlaneRole role, int subBlock, float* out) const
{
    return decodeAs(role, subBlock, out);
}

Expected<void> TileView::decodeIntegers(PlaneRole role, int subBlock, std::uint64_t* out) const
{
    if (planeType(role) == PlaneType::F64)
        return failure(ErrorCode::BadInput, "the plane holds no integers");
    if (planeType(role) == PlaneType::F32) {
        // Damaged or foreign bytes may hold a NaN or a negative, which no integer can express.
        std::vector<double> wide(static_cast<std::size_t>(kSubBlockSeries) * series::kTileColumns);
        if (auto ok = decode(role, subBlock, wide.data()); !ok)
            return ok;
        const std::size_t cells = static_cast<std::size_t>(lanesOf(subBlock)) * static_cast<std::size_t>(m_columns);
        for (std::size_t i = 0; i < cells; ++i)
            out[i] = wide[i] >= 0 && wide[i] <= 16777216.0 ? static_cast<std::uint64_t>(wide[i]) : 0;
        return {};
    }
    return decodeAs(role, subBlock, out);
}

Expected<void> TileView::addLanes(
    PlaneRole role, int first, int end, const std::uint8_t* isMarked, double* all, double* marked) const
{
    const int index = planeIndex(role);
    if (index < 0 || first < 0 || end > m_lanes)
        return failure(ErrorCode::BadInput, "the tile has no such plane");
    if (const auto& together = m_planes[static_cast<std::size_t>(index)].together) {
        together->addLanes(first, end, isMarked, all, marked);
        return {};
    }
    const auto columns = static_cast<std::size_t>(m_columns);
    thread_local std::vector<double> cells;
    cells.resize(columns * kSubBlockSeries);
    for (int block = first / kSubBlockSeries; block * kSubBlockSeries < end; ++block) {
        if (constant(role, block) == 0.0)
            continue;
        if (auto ok = decode(role, block, cells.data()); !ok)
            return ok;
        const int begin = block * kSubBlockSeries;
        for (int lane = std::max(first, begin); lane < std::min(end, begin + kSubBlockSeries); ++lane) {
            const double* from = cells.data() + static_cast<std::size_t>(lane - begin) * columns;
            for (std::size_t c = 0; c < columns; ++c)
                all[c] += from[c];
            for (std::size_t c = 0; isMarked[lane - first] != 0 && c < columns; ++c)
                marked[c] += from[c];
        }
    }
    return {};
}

}
