// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>

namespace telltale::agent {

enum class BlockType : std::uint8_t { Stats, Floats, Doubles, Counts };

/// A layout as the training process registered it, and the wire layouts it is sent as: long ones are cut into parts, so
/// that every part fits a message together with its names. Immutable.
struct Layout {
    struct Part {
        std::shared_ptr<const SeriesLayout> wire;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        std::size_t layoutBytes = 0; ///< about what the layout takes in a message
        std::size_t dimensions = 0; ///< of all its shapes
    };

    std::uint32_t id = 0; ///< that of its first part
    Kind kind = Kind::Unspecified;
    std::vector<Stat> stats;
    std::uint32_t count = 0; ///< series
    std::uint32_t width = 1; ///< values of one: bins
    BlockType type = BlockType::Stats;
    std::uint32_t neededFlags = 0; ///< of a tt_stats that is present
    std::uint32_t samplesPerSeries = 0;
    std::uint32_t scalarsPerSeries = 0;
    std::uint32_t dropClass = 2;
    std::vector<Part> parts;

    /// Size of a block's values without its presence bytes.
    std::size_t valueBytes() const;
    std::size_t blockBytes() const;
};

/// What a training process asks for; checked where it was made from a call of the C ABI.
struct LayoutRequest {
    Kind kind = Kind::Unspecified;
    std::vector<Stat> stats;
    BlockType type = BlockType::Stats;
    std::vector<SeriesDesc> series;
    std::vector<double> edges {}; ///< of histograms
    std::string mended {}; ///< one sentence where names or shapes had to be made to fit, else empty
};

/// Every layout of one agent. Thread: any adds (a lock); lookups take none, so that the training thread can.
class LayoutRegistry {
public:
    LayoutRegistry();

    Expected<const Layout*> add(LayoutRequest&& request);
    /// nullptr when unknown.
    const Layout* find(std::uint32_t id) const;

private:
    static constexpr std::uint32_t kChunk = 256;
    using Chunk = std::array<std::atomic<const Layout*>, kChunk>;

    std::array<std::atomic<Chunk*>, kChunk> m_chunks {};
    std::mutex m_mutex;
    std::vector<std::unique_ptr<Chunk>> m_ownedChunks;
    std::vector<std::unique_ptr<const Layout>> m_owned;
    std::uint32_t m_nextId = 1;
    std::size_t m_seriesCount = 0;
};

}
