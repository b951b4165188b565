// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/slabring.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace telltale::agent {
namespace {

constexpr std::size_t kAlign = 16;
constexpr std::size_t kSmallestRing = 64u << 10;
constexpr std::uintptr_t kHugePage = 2u << 20;
constexpr std::uint32_t kPad = 1;
constexpr std::uint32_t kStep = 2;
constexpr std::uint32_t kBlock = 3;

constexpr std::size_t aligned(std::size_t bytes)
{
    return (bytes + kAlign - 1) & ~(kAlign - 1);
}

}

struct SlabRing::BlockHeader {
    std::uint32_t bytes; ///< with this header
    std::uint32_t type;
    std::uint32_t layout;
    std::uint32_t count;
};

struct SlabRing::StepHeader {
    std::uint32_t bytes;
    std::uint32_t type;
    std::uint32_t blocks;
    std::uint32_t reserved;
    std::int64_t step;
    std::int64_t wallNs;
};

SlabRing::SlabRing(std::size_t bytes)
    : m_capacity(std::bit_ceil(std::clamp<std::size_t>(bytes, kSmallestRing, std::size_t { 1 } << 31)))
{
    // Huge pages, where the kernel has them to spare: a step's first touch of a page costs microseconds in a virtual
    // machine whose tables were swapped out meanwhile.
    m_mappedBytes = m_capacity + kHugePage;
    m_mapping
        = ::mmap(nullptr, m_mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m_mapping == MAP_FAILED)
        throw std::bad_alloc();
    const auto address = (reinterpret_cast<std::uintptr_t>(m_mapping) + kHugePage - 1) & ~(kHugePage - 1);
    m_memory = reinterpret_cast<std::byte*>(address);
    (void)::madvise(m_memory, m_capacity, MADV_HUGEPAGE);
    std::memset(m_memory, 0, m_capacity);
}

SlabRing::~SlabRing()
{
    ::munmap(m_mapping, m_mappedBytes);
}

bool SlabRing::begin(std::int64_t step, std::int64_t wallNs)
{
    m_write = m_head.load(std::memory_order_relaxed);
    // A pad at the end of the memory may cost as much again as the largest block; reserve() has the last word.
    const std::uint64_t wanted
        = std::min<std::uint64_t>(std::max<std::uint64_t>(m_largestStep, sizeof(StepHeader)), m_capacity);
    if (m_capacity - (m_write - m_knownTail) < wanted) {
        m_knownTail = m_tail.load(std::memory_order_acquire);
        if (m_capacity - (m_write - m_knownTail) < wanted)
            return false;
    }
    m_startedEmpty = m_write == m_knownTail || m_write == m_tail.load(std::memory_order_acquire);
    std::byte* raw = place(sizeof(StepHeader));
    if (!raw) {
        clear(m_head.load(std::memory_order_relaxed), m_write);
        return false;
    }
    m_open = new (raw) StepHeader { sizeof(StepHeader), kStep, 0, 0, step, wallNs };
    return true;
}

std::byte* SlabRing::reserve(std::uint32_t layout, std::uint32_t count, std::size_t bytes)
{
    if (bytes >= m_capacity)
        return nullptr;
    const std::size_t total = sizeof(BlockHeader) + aligned(bytes);
    std::byte* raw = place(total);
    if (!raw) {
        const std::uint64_t used = m_write - m_head.load(std::memory_order_relaxed);
        m_largestStep = std::min<std::uint64_t>(m_capacity, std::max<std::uint64_t>(m_largestStep, used + total));
        return nullptr;
    }
    new (raw) BlockHeader { static_cast<std::uint32_t>(total), kBlock, layout, count };
    ++m_open->blocks;
    return raw + sizeof(BlockHeader);
}

std::byte* SlabRing::place(std::size_t bytes)
{
    const std::size_t offset = static_cast<std::size_t>(m_write & (m_capacity - 1));
    const std::size_t toEnd = m_capacity - offset;
    const std::size_t pad = toEnd < bytes ? toEnd : 0;
    if (m_capacity - (m_write - m_knownTail) < pad + bytes) {
        m_knownTail = m_tail.load(std::memory_order_acquire);
        if (m_capacity - (m_write - m_knownTail) < pad + bytes)
            return nullptr;
    }
    if (pad > 0) {
        new (at(m_write)) BlockHeader { static_cast<std::uint32_t>(pad), kPad, 0, 0 };
        m_write += pad;
    }
    std::byte* raw = at(m_write);
    m_write += bytes;
    return raw;
}

void SlabRing::commit()
{
    m_largestStep = std::max(m_largestStep, m_write - m_head.load(std::memory_order_relaxed));
    m_open = nullptr;
    m_head.store(m_write, std::memory_order_release);
}

void SlabRing::abandon()
{
    const std::uint64_t head = m_head.load(std::memory_order_relaxed);
    clear(head, m_write);
    m_write = head;
    m_open = nullptr;
}

bool SlabRing::consume(
    const std::function<void(std::int64_t, std::int64_t)>& onStep, const std::function<void(const Block&)>& onBlock)
{
    const std::uint64_t start = m_tail.load(std::memory_order_relaxed);
    if (start == m_head.load(std::memory_order_acquire))
        return false;
    std::uint64_t position = start;
    const auto next = [&]() -> std::byte* {
        const auto* header = reinterpret_cast<const BlockHeader*>(at(position));
        if (header->type == kPad)
            position += header->bytes;
        return at(position);
    };
    const auto* step = reinterpret_cast<const StepHeader*>(next());
    position += sizeof(StepHeader);
    std::uint32_t taken = 0;
    const auto takeBlock = [&]() -> Block {
        const std::byte* raw = next();
        const auto* header = reinterpret_cast<const BlockHeader*>(raw);
        position += header->bytes;
        ++taken;
        return { header->layout, header->count, raw + sizeof(BlockHeader) };
    };
    const auto release = [&] {
        while (taken < step->blocks)
            (void)takeBlock();
        clear(start, position);
        m_tail.store(position, std::memory_order_release);
    };
    try {
        onStep(step->step, step->wallNs);
        while (taken < step->blocks)
            onBlock(takeBlock());
    } catch (...) {
        // Given out again, its first blocks would be counted twice.
        release();
        throw;
    }
    release();
    return true;
}

void SlabRing::clear(std::uint64_t from, std::uint64_t to)
{
    while (from < to) {
        const std::size_t offset = static_cast<std::size_t>(from & (m_capacity - 1));
        const std::size_t bytes = std::min<std::size_t>(static_cast<std::size_t>(to - from), m_capacity - offset);
        std::memset(m_memory + offset, 0, bytes);
        from += bytes;
    }
}

}
