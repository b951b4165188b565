// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/blocksreader.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <telltale/core/protocolone.h>
#include <telltale/protocol/columns.h>
#include <telltale/protocol/datarules.h>

namespace telltale::protocol {

BlocksReader::BlocksReader(const wire::Blocks& in, LayoutPtr layout)
    : m_in(in)
    , m_layout(std::move(layout))
    , m_steps(static_cast<std::size_t>(in.steps_size()))
    , m_series(m_layout->series.size())
    , m_cells(m_layout->cells())
{
}

Expected<std::vector<StepBlock>> BlocksReader::read()
{
    m_blocks.resize(m_steps);
    std::uint64_t step = 0;
    std::uint64_t wallNs = 0;
    for (std::size_t s = 0; s < m_steps; ++s) {
        step += static_cast<std::uint64_t>(m_in.steps(static_cast<int>(s)));
        wallNs += static_cast<std::uint64_t>(m_in.wall_ns(static_cast<int>(s)));
        if (!isStep(static_cast<std::int64_t>(step)))
            return failure(ErrorCode::BadInput, "a step is farther from 0 than 2^53");
        m_blocks[s].layout = m_layout;
        m_blocks[s].step = Step { static_cast<std::int64_t>(step) };
        m_blocks[s].wallNs = static_cast<std::int64_t>(wallNs);
        m_blocks[s].columns.reserve(m_layout->stats.size());
    }
    for (std::size_t i = 0; i < m_layout->stats.size(); ++i) {
        if (auto done = readColumn(m_layout->stats[i], m_in.columns(static_cast<int>(i))); !done)
            return tl::unexpected(done.error());
    }
    if (auto done = readPresent(); !done)
        return tl::unexpected(done.error());
    if (auto done = readCallIds(); !done)
        return tl::unexpected(done.error());
    return std::move(m_blocks);
}

Expected<void> BlocksReader::readColumn(Stat stat, const std::string& encoded)
{
    switch (protocolone::columnType(m_layout->edges, stat)) {
    case ColumnType::F32:
        return readWords<float, std::uint32_t>(stat, encoded);
    case ColumnType::F64:
        return readWords<double, std::uint64_t>(stat, encoded);
    case ColumnType::U64:
        break;
    }
    if (encoded.empty()) {
        addZeros<std::uint64_t>(stat);
        return {};
    }
    thread_local std::vector<std::uint64_t> numbers;
    numbers.resize(m_steps * m_cells);
    if (auto done = decodeVarints(encoded, numbers); !done)
        return done;
    for (std::size_t s = 0; s < m_steps; ++s) {
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(s * m_cells);
        m_blocks[s].columns.push_back(
            { stat, std::vector<std::uint64_t>(first, first + static_cast<std::ptrdiff_t>(m_cells)) });
    }
    return {};
}

template <typename T> void BlocksReader::addZeros(Stat stat)
{
    for (StepBlock& block : m_blocks)
        block.columns.push_back({ stat, std::vector<T>(m_cells) });
}

template <typename T, typename Word> Expected<void> BlocksReader::readWords(Stat stat, const std::string& encoded)
{
    if (encoded.empty()) {
        addZeros<T>(stat);
        return {};
    }
    thread_local std::vector<Word> words;
    words.resize(m_steps * m_cells);
    const std::span<char> bytes { reinterpret_cast<char*>(words.data()), words.size() * sizeof(Word) };
    if (auto done = decodeWords(encoded, sizeof(Word), m_steps, bytes); !done)
        return done;
    for (std::size_t s = 0; s < m_steps; ++s) {
        std::vector<T> values(m_cells);
        if (m_cells > 0)
            std::memcpy(values.data(), words.data() + s * m_cells, m_cells * sizeof(Word));
        m_blocks[s].columns.push_back({ stat, std::move(values) });
    }
    return {};
}

Expected<void> BlocksReader::readPresent()
{
    if (m_in.present().empty())
        return {};
    const std::size_t width = bitmapBytes(m_series);
    std::string absent(m_steps * width, '\0');
    if (auto done = decodeWords(m_in.present(), 1, m_steps, absent); !done)
        return done;
    for (std::size_t s = 0; s < m_steps; ++s) {
        bool hasAbsent = false;
        std::vector<std::uint64_t> present((m_series + 63) / 64, 0);
        for (std::size_t b = 0; b < width; ++b) {
            const char byte = absent[s * width + b];
            const std::size_t bits = std::min<std::size_t>(8, m_series - b * 8);
            const unsigned mask = (1u << bits) - 1u;
            const unsigned missing = static_cast<unsigned char>(byte) & mask;
            hasAbsent = hasAbsent || missing != 0;
            present[b / 8] |= std::uint64_t { ~missing & mask } << (8 * (b % 8));
        }
        if (hasAbsent)
            m_blocks[s].present = std::move(present);
    }
    return {};
}

Expected<void> BlocksReader::readCallIds()
{
    if (m_in.call_ids().empty())
        return {};
    std::vector<std::uint64_t> numbers(m_steps * m_series);
    if (auto done = decodeVarints(m_in.call_ids(), numbers); !done)
        return done;
    for (std::size_t s = 0; s < m_steps; ++s) {
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(s * m_series);
        const auto last = first + static_cast<std::ptrdiff_t>(m_series);
        if (std::all_of(first, last, [](std::uint64_t n) { return n == 0; }))
            continue;
        std::vector<std::uint32_t>& ids = m_blocks[s].callIds;
        ids.reserve(m_series);
        std::uint64_t id = 0;
        for (auto it = first; it != last; ++it) {
            const std::uint64_t zigzag = *it - 1;
            id += (zigzag >> 1) ^ (0 - (zigzag & 1));
            if (*it == 0 || id > UINT32_MAX)
                return failure(ErrorCode::Damaged, "the call order of the batch is damaged");
            ids.push_back(static_cast<std::uint32_t>(id));
        }
    }
    return {};
}

}
