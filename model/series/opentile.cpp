// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/series/opentile.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace telltale::series {
namespace {

template <typename T> constexpr PlaneType planeTypeOf()
{
    if constexpr (std::is_same_v<T, float>)
        return PlaneType::F32;
    else if constexpr (std::is_same_v<T, double>)
        return PlaneType::F64;
    else
        return PlaneType::U64;
}

template <typename T> bool isAllZeroBits(std::span<const T> values)
{
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::all_of(values.begin(), values.end(), [](const T& value) { return std::bit_cast<Bits>(value) == 0; });
}

/// A cell that readers may look at while a repeated scalar overwrites it.
template <typename T> T load(const T& cell)
{
    return std::atomic_ref<T>(const_cast<T&>(cell)).load(std::memory_order_relaxed);
}

}

struct OpenTile::Plane {
    struct Data {
        PlaneType type = PlaneType::Zero;
        std::byte* cells = nullptr;
        std::unique_ptr<ZeroPages> own; ///< of a later generation

        template <typename T> T* array() const { return reinterpret_cast<T*>(cells); }
        double at(std::size_t i) const
        {
            switch (type) {
            case PlaneType::F32:
                return static_cast<double>(load(array<float>()[i]));
            case PlaneType::F64:
                return load(array<double>()[i]);
            case PlaneType::U64:
                return static_cast<double>(load(array<std::uint64_t>()[i]));
            case PlaneType::Zero:
                break;
            }
            return 0;
        }
    };

    explicit Plane(std::byte* first)
        : memory(first)
    {
    }

    std::byte* const memory; ///< of the first generation
    std::atomic<Data*> current { nullptr };
    std::vector<std::unique_ptr<Data>> generations; ///< a reader may still be in an older one

    /// written: how many of the cells have been.
    Data* promote(PlaneType type, std::size_t cells, std::size_t written)
    {
        auto next = std::make_unique<Data>();
        next->type = type;
        next->cells = memory;
        if (const Data* old = current.load(std::memory_order_relaxed)) {
            next->own = std::make_unique<ZeroPages>(cells * sizeof(double));
            next->cells = next->own->data();
            for (std::size_t i = 0; i < written; ++i)
                next->array<double>()[i] = old->at(i);
        }
        generations.push_back(std::move(next));
        current.store(generations.back().get(), std::memory_order_release);
        return generations.back().get();
    }
};

OpenTile::OpenTile(GroupId group, std::int64_t firstColumn, std::vector<Stat> stats, int seriesCount)
    : m_group(group)
    , m_firstColumn(firstColumn)
    , m_stats(std::move(stats))
    , m_seriesCount(seriesCount)
    , m_steps(kTileColumns)
    , m_memory(cells() * (m_stats.size() * sizeof(double) + 1))
    , m_present(reinterpret_cast<std::uint8_t*>(m_memory.data() + cells() * m_stats.size() * sizeof(double)))
{
    for (std::size_t i = 0; i < m_stats.size(); ++i)
        m_planes.push_back(std::make_unique<Plane>(m_memory.data() + i * cells() * sizeof(double)));
}

OpenTile::~OpenTile() = default;

void OpenTile::read(int lane, int statIndex, int firstColumn, int count, double* values, std::uint8_t* present) const
{
    const auto lanes = static_cast<std::size_t>(m_seriesCount);
    const Plane::Data* data = m_planes[static_cast<std::size_t>(statIndex)]->current.load(std::memory_order_acquire);
    std::size_t cell = static_cast<std::size_t>(firstColumn) * lanes + static_cast<std::size_t>(lane);
    for (int i = 0; i < count; ++i, cell += lanes) {
        values[i] = data ? data->at(cell) : 0;
        present[i] = load(m_present[cell]);
    }
}

void OpenTile::readWhole(int lane, int statIndex, int firstColumn, int count, std::uint64_t* values) const
{
    const auto lanes = static_cast<std::size_t>(m_seriesCount);
    const Plane::Data* data = m_planes[static_cast<std::size_t>(statIndex)]->current.load(std::memory_order_acquire);
    std::size_t cell = static_cast<std::size_t>(firstColumn) * lanes + static_cast<std::size_t>(lane);
    for (int i = 0; i < count; ++i, cell += lanes)
        values[i] = data && data->type == PlaneType::U64 ? load(data->array<std::uint64_t>()[cell]) : 0;
}

PlaneData OpenTile::plane(int statIndex) const
{
    const Plane::Data* data = m_planes[static_cast<std::size_t>(statIndex)]->current.load(std::memory_order_acquire);
    return data ? PlaneData { data->type, data->cells } : PlaneData {};
}

bool OpenTile::isPresent(int lane, int column) const
{
    return load(m_present[static_cast<std::size_t>(column) * static_cast<std::size_t>(m_seriesCount)
               + static_cast<std::size_t>(lane)])
        != 0;
}

int OpenTile::findColumn(Step step) const
{
    for (int i = m_written - 1; i >= 0; --i) {
        if (m_steps[static_cast<std::size_t>(i)] == step)
            return i;
    }
    return -1;
}

int OpenTile::appendColumn(Step step)
{
    m_steps[static_cast<std::size_t>(m_written)] = step;
    return m_written++;
}

void OpenTile::set(int lane, int statIndex, int column, double value)
{
    setLanes(lane, statIndex, column, std::span<const double>(&value, 1));
}

void OpenTile::setPresent(int lane, int column, bool present)
{
    std::uint8_t& cell = m_present[static_cast<std::size_t>(column) * static_cast<std::size_t>(m_seriesCount)
        + static_cast<std::size_t>(lane)];
    std::atomic_ref<std::uint8_t>(cell).store(present ? 1 : 0, std::memory_order_relaxed);
}

void OpenTile::setAllPresent(int column)
{
    if (column < m_published.load(std::memory_order_relaxed)) {
        for (int lane = 0; lane < m_seriesCount; ++lane)
            setPresent(lane, column, true);
        return;
    }
    const auto lanes = static_cast<std::size_t>(m_seriesCount);
    std::memset(m_present + static_cast<std::size_t>(column) * lanes, 1, lanes);
}

template <typename T> void OpenTile::store(int firstLane, int statIndex, int column, std::span<const T> values)
{
    Plane& plane = *m_planes[static_cast<std::size_t>(statIndex)];
    Plane::Data* data = plane.current.load(std::memory_order_relaxed);
    if (!data && isAllZeroBits(values))
        return;
    const auto lanes = static_cast<std::size_t>(m_seriesCount);
    const std::size_t written = lanes * static_cast<std::size_t>(m_written);
    if (!data)
        data = plane.promote(planeTypeOf<T>(), cells(), written);
    else if (data->type != planeTypeOf<T>() && data->type != PlaneType::F64)
        data = plane.promote(PlaneType::F64, cells(), written);
    const std::size_t first = static_cast<std::size_t>(column) * lanes + static_cast<std::size_t>(firstLane);
    if (data->type != planeTypeOf<T>() || column < m_published.load(std::memory_order_relaxed)) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (data->type == PlaneType::F64)
                std::atomic_ref<double>(data->array<double>()[first + i])
                    .store(static_cast<double>(values[i]), std::memory_order_relaxed);
            else
                std::atomic_ref<T>(data->template array<T>()[first + i]).store(values[i], std::memory_order_relaxed);
        }
        return;
    }
    std::memcpy(data->template array<T>() + first, values.data(), values.size_bytes());
}

void OpenTile::setLanes(int firstLane, int statIndex, int column, std::span<const float> values)
{
    store(firstLane, statIndex, column, values);
}

void OpenTile::setLanes(int firstLane, int statIndex, int column, std::span<const double> values)
{
    store(firstLane, statIndex, column, values);
}

void OpenTile::setLanes(int firstLane, int statIndex, int column, std::span<const std::uint64_t> values)
{
    store(firstLane, statIndex, column, values);
}

}
