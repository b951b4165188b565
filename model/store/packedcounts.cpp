// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/packedcounts.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <telltale/core/bytes.h>

namespace telltale::store {
namespace {

constexpr unsigned kWidth = 3;
constexpr unsigned kPlain = 4;

/// A difference as a number that is small where the difference is.
constexpr std::uint64_t zigzag(std::uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

template <typename Word> constexpr Word fromZigzag(Word zigzagged)
{
    return static_cast<Word>(zigzagged >> 1 ^ (0 - (zigzagged & 1)));
}

/// An element of which byte i lies at bytes[i * stride].
template <int Width> auto element(const std::uint8_t* bytes, std::size_t stride)
{
    using Word = std::conditional_t<Width == 1, std::uint8_t,
        std::conditional_t<Width == 2, std::uint16_t, std::conditional_t<Width == 4, std::uint32_t, std::uint64_t>>>;
    Word word = bytes[0];
    for (std::size_t i = 1; i < Width; ++i)
        word = static_cast<Word>(word | static_cast<Word>(static_cast<Word>(bytes[i * stride]) << 8 * i));
    return word;
}

template <int Width>
void readAs(const std::uint8_t* bytes, std::size_t stride, std::size_t columns, bool isDifferences, std::uint64_t* out)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
        const std::uint64_t read = element<Width>(bytes + i, stride);
        sum = isDifferences ? sum + fromZigzag(read) : read;
        out[i] = sum;
    }
}

}

void PackedCounts::append(std::span<const std::uint64_t> counts, int lanes, int columns, std::string& out)
{
    const std::size_t bitmap = static_cast<std::size_t>(lanes + 7) / 8;
    std::string head(2 * bitmap, '\0');
    std::vector<std::uint64_t> elements, differences;
    const auto width = static_cast<std::size_t>(columns);
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
        const auto from = counts.subspan(lane * width, width);
        const auto mark = [&head, lane](std::size_t at) {
            head[at + lane / 8] = static_cast<char>(head[at + lane / 8] | 1 << lane % 8);
        };
        if (std::all_of(from.begin(), from.end(), [](std::uint64_t count) { return count == 0; }))
            continue;
        mark(0);
        differences.clear();
        std::uint64_t before = 0;
        for (const std::uint64_t count : from)
            differences.push_back(zigzag(count - std::exchange(before, count)));
        const bool areSmaller = std::accumulate(differences.begin(), differences.end(), 0.0)
            < std::accumulate(from.begin(), from.end(), 0.0);
        if (areSmaller)
            mark(bitmap);
        const std::span<const std::uint64_t> smaller = areSmaller ? differences : from;
        elements.insert(elements.end(), smaller.begin(), smaller.end());
    }
    if (elements.empty())
        return;
    const std::uint64_t most = *std::max_element(elements.begin(), elements.end());
    const unsigned log = most >> 8 == 0 ? 0 : most >> 16 == 0 ? 1 : most >> 32 == 0 ? 2 : 3;
    std::string shuffled;
    shuffled.reserve(elements.size() << log);
    for (unsigned byte = 0; byte < 1u << log; ++byte) {
        for (const std::uint64_t element : elements)
            shuffled.push_back(static_cast<char>(element >> 8 * byte));
    }
    out += head;
    const std::size_t form = out.size();
    out.push_back(static_cast<char>(log));
    zstdAppend(shuffled, out);
    const std::size_t packed = out.size() - form - 1;
    if (packed > 0 && packed < shuffled.size())
        return;
    out.resize(form);
    out.push_back(static_cast<char>(log | kPlain));
    out += shuffled;
}

Expected<PackedCounts> PackedCounts::read(std::string_view bytes, int lanes, int columns)
{
    PackedCounts counts;
    counts.m_places.fill(-1);
    counts.m_columns = static_cast<std::size_t>(columns);
    if (bytes.empty())
        return counts;
    const std::size_t bitmap = static_cast<std::size_t>(lanes + 7) / 8;
    const std::size_t head = 2 * bitmap + 1;
    const auto damaged = failure(ErrorCode::Damaged, "the tile is damaged: its counts cannot be read");
    if (bytes.size() < head)
        return damaged;
    std::int16_t found = 0;
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
        const auto isMarked = [&bytes, lane](std::size_t at) {
            return (static_cast<unsigned char>(bytes[at + lane / 8]) >> lane % 8 & 1) != 0;
        };
        if (isMarked(0))
            counts.m_places[lane] = found++;
        counts.m_areDifferences[lane] = isMarked(bitmap);
    }
    const auto form = static_cast<unsigned char>(bytes[head - 1]);
    if (form > (kWidth | kPlain))
        return damaged;
    counts.m_width = 1 << (form & kWidth);
    counts.m_elements = static_cast<std::size_t>(found) * counts.m_columns;
    const std::size_t size = counts.m_elements * static_cast<std::size_t>(counts.m_width);
    counts.m_bytes = std::make_unique_for_overwrite<std::uint8_t[]>(size);
    bytes.remove_prefix(head);
    if ((form & kPlain) == 0) {
        if (auto ok = zstdInto(bytes, reinterpret_cast<char*>(counts.m_bytes.get()), size); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
        return counts;
    }
    if (bytes.size() != size)
        return damaged;
    std::copy_n(bytes.begin(), size, counts.m_bytes.get());
    return counts;
}

const std::uint8_t* PackedCounts::elementsOf(int lane) const
{
    return m_bytes.get() + static_cast<std::size_t>(m_places[static_cast<std::size_t>(lane)]) * m_columns;
}

void PackedCounts::lane(int lane, std::uint64_t* out) const
{
    if (isZero(lane)) {
        std::fill_n(out, m_columns, 0);
        return;
    }
    const auto read = m_width == 1 ? readAs<1> : m_width == 2 ? readAs<2> : m_width == 4 ? readAs<4> : readAs<8>;
    read(elementsOf(lane), m_elements, m_columns, m_areDifferences[static_cast<std::size_t>(lane)], out);
}

/// `Sum` holds what kTileSeries elements, or differences, of the width add up to. The sum of differences is the
/// difference of the sums, so that they are added up once for all lanes.
template <int Width, typename Sum>
void PackedCounts::addAs(int first, int end, const std::uint8_t* isMarked, double* all, double* marked) const
{
    std::array<std::array<Sum, series::kTileColumns>, 4> sums {}; // counts, differences, and those of marked lanes
    const std::size_t columns = m_columns, stride = m_elements;
    for (int lane = first; lane < end; ++lane) {
        if (isZero(lane))
            continue;
        const bool areDifferences = m_areDifferences[static_cast<std::size_t>(lane)];
        const std::uint8_t* const bytes = elementsOf(lane);
        // Not what it is read from.
        Sum* const __restrict to = sums[(isMarked[lane - first] != 0 ? 2 : 0) + (areDifferences ? 1 : 0)].data();
        if (areDifferences) {
            for (std::size_t i = 0; i < columns; ++i) {
                const auto difference = fromZigzag(element<Width>(bytes + i, stride));
                to[i] = static_cast<Sum>(to[i] + static_cast<std::make_signed_t<decltype(difference)>>(difference));
            }
        } else {
            for (std::size_t i = 0; i < columns; ++i)
                to[i] = static_cast<Sum>(to[i] + static_cast<Sum>(element<Width>(bytes + i, stride)));
        }
    }
    std::int64_t plain = 0, lost = 0;
    for (std::size_t i = 0; i < columns; ++i) {
        plain += sums[1][i];
        lost += sums[3][i];
        all[i] += static_cast<double>(sums[0][i] + plain + sums[2][i] + lost);
        marked[i] += static_cast<double>(sums[2][i] + lost);
    }
}

void PackedCounts::addLanes(int first, int end, const std::uint8_t* isMarked, double* all, double* marked) const
{
    if (m_width <= 1)
        return addAs<1, std::int16_t>(first, end, isMarked, all, marked);
    if (m_width == 2)
        return addAs<2, std::int32_t>(first, end, isMarked, all, marked);
    if (m_width == 4)
        return addAs<4, std::int64_t>(first, end, isMarked, all, marked);
    std::array<std::uint64_t, series::kTileColumns> counts {}; // too large for one sum of whole numbers
    for (int lane = first; lane < end; ++lane) {
        this->lane(lane, counts.data());
        for (std::size_t i = 0; i < m_columns; ++i) {
            all[i] += static_cast<double>(counts[i]);
            marked[i] += isMarked[lane - first] != 0 ? static_cast<double>(counts[i]) : 0.0;
        }
    }
}

}
