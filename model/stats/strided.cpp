// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/stats/stats.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <telltale/core/nothrow.h>

#include "finish.h"
#include "passes.h"

namespace telltale::stats {
namespace {

constexpr std::size_t kMostDimensions = 64; // as many as a torch tensor may have

struct Dimension {
    std::int64_t size;
    std::int64_t stride; ///< in elements
};

/// The same elements in the order of memory, with dimensions that follow one another without a gap joined: a transposed
/// dense tensor becomes one run. Thread: owned by one.
class Walk {
public:
    /// False when the shape is none: a negative size, too many dimensions, a count beyond 2^62.
    bool take(const std::int64_t* shape, const std::int64_t* stride, std::uint32_t ndim)
    {
        if (ndim > kMostDimensions || (ndim > 0 && (!shape || !stride)))
            return false;
        for (std::uint32_t d = 0; d < ndim; ++d) {
            if (shape[d] < 0
                || (shape[d] > 0 && numel > (std::uint64_t { 1 } << 62) / static_cast<std::uint64_t>(shape[d])))
                return false;
            numel *= static_cast<std::uint64_t>(shape[d]);
            if (shape[d] == 1)
                continue;
            // Counted from its lowest element, a mirrored dimension is a plain one.
            offset += stride[d] < 0 ? (shape[d] - 1) * stride[d] : 0;
            dims[count++] = { shape[d], stride[d] < 0 ? -stride[d] : stride[d] };
        }
        if (numel == 0)
            return true;
        std::sort(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(count),
            [](const Dimension& a, const Dimension& b) { return a.stride > b.stride; });
        join();
        return true;
    }

    bool isDense() const { return count == 0 || (count == 1 && dims[0].stride == 1); }

    std::uint64_t numel = 1;
    std::int64_t offset = 0; ///< of the lowest element
    std::size_t count = 0;
    std::array<Dimension, kMostDimensions> dims {};

private:
    void join()
    {
        std::size_t kept = 0;
        for (std::size_t d = 1; d < count; ++d) {
            if (dims[kept].stride == dims[d].size * dims[d].stride)
                dims[kept] = { dims[kept].size * dims[d].size, dims[d].stride };
            else
                dims[++kept] = dims[d];
        }
        count = count == 0 ? 0 : kept + 1;
    }
};

/// Gathers the walk's elements into whole blocks and hands each to the kernel. Thread: owned by one.
template <typename Element> class Gatherer {
public:
    Gatherer(const Walk& walk, const void* data, std::uint32_t dtype, const Eps& eps)
        : m_walk(walk)
        , m_data(static_cast<const Element*>(data) + walk.offset)
        , m_dtype(dtype)
        , m_eps(eps)
    {
    }

    const Totals& run()
    {
        std::array<std::int64_t, kMostDimensions> index {};
        const Dimension inner = m_walk.dims[m_walk.count - 1];
        const Element* at = m_data;
        for (;;) {
            takeRun(at, inner);
            std::size_t d = m_walk.count - 1;
            for (;; --d) {
                if (d == 0) {
                    flush();
                    return m_totals;
                }
                const Dimension& outer = m_walk.dims[d - 1];
                at += outer.stride;
                if (++index[d - 1] < outer.size)
                    break;
                at -= outer.size * outer.stride;
                index[d - 1] = 0;
            }
        }
    }

private:
    void takeRun(const Element* from, const Dimension& run)
    {
        auto left = static_cast<std::size_t>(run.size);
        while (left > 0) {
            const std::size_t taken = std::min(left, kBlockElements - m_filled);
            if (run.stride == 1) {
                std::memcpy(m_buffer.data() + m_filled, from, taken * sizeof(Element));
            } else {
                for (std::size_t i = 0; i < taken; ++i)
                    m_buffer[m_filled + i] = from[static_cast<std::int64_t>(i) * run.stride];
            }
            from += static_cast<std::int64_t>(taken) * run.stride;
            left -= taken;
            m_filled += taken;
            if (m_filled == kBlockElements)
                flush();
        }
    }

    void flush()
    {
        if (m_filled == 0)
            return;
        BlockPartial partial;
        measureBlock(m_buffer.data(), m_dtype, 0, m_filled, m_eps, partial);
        m_totals.add(partial);
        m_filled = 0;
    }

    const Walk& m_walk;
    const Element* m_data;
    std::uint32_t m_dtype;
    const Eps& m_eps;
    Totals m_totals;
    std::size_t m_filled = 0;
    std::array<Element, kBlockElements> m_buffer;
};

template <typename Element>
void gather(const Walk& walk, const void* data, std::uint32_t dtype, double eps, tt_stats& result)
{
    const Eps limits = makeEps(eps);
    Gatherer<Element> gatherer(walk, data, dtype, limits);
    gatherer.run().finish(walk.numel, dtype, result);
}

int measureStrided(const void* data, const int64_t* shape, const int64_t* stride, uint32_t ndim, uint32_t dtype,
    double eps, tt_stats* result)
{
    *result = {};
    Walk walk;
    const std::size_t width = widthOf(dtype);
    if (width == 0 || !walk.take(shape, stride, ndim) || (!data && walk.numel > 0))
        return -1;
    if (walk.numel == 0 || walk.isDense()) {
        const auto* first = static_cast<const unsigned char*>(data);
        if (walk.numel > 0)
            first += walk.offset * static_cast<std::int64_t>(width);
        return tt_stats_tensor(first, walk.numel, dtype, eps, result, 1);
    }
    switch (width) {
    case 1:
        gather<std::uint8_t>(walk, data, dtype, eps, *result);
        return 0;
    case 2:
        gather<std::uint16_t>(walk, data, dtype, eps, *result);
        return 0;
    case 4:
        gather<std::uint32_t>(walk, data, dtype, eps, *result);
        return 0;
    default:
        gather<std::uint64_t>(walk, data, dtype, eps, *result);
        return 0;
    }
}

}
}

extern "C" int tt_stats_strided(const void* data, const int64_t* shape, const int64_t* stride, uint32_t ndim,
    uint32_t dtype, double eps, tt_stats* result)
{
    return telltale::withoutThrowing(
        [&] { return telltale::stats::measureStrided(data, shape, stride, ndim, dtype, eps, result); });
}
