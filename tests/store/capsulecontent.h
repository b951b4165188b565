// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/protocolone.h>
#include <telltale/core/samplebatch.h>
#include <telltale/store/storeservice.h>

namespace telltale::store::test {

/// All columns of one group in order, sealed or not, as the file alone tells them.
struct GroupContent {
    std::vector<Stat> stats;
    int lanes = 0;
    int firstPosition = 0;
    std::vector<std::int64_t> steps;
    std::vector<std::vector<double>> values; ///< by stat; lane + column * lanes
    std::vector<std::uint8_t> present;

    double at(std::size_t stat, int lane, std::size_t column) const
    {
        return values[stat][static_cast<std::size_t>(lane) + column * static_cast<std::size_t>(lanes)];
    }
};

/// By group id. Stops the test through an exception when the file cannot be read.
std::map<std::int64_t, GroupContent> readContent(const std::string& path);
std::string metaOf(const std::string& path, const std::string& key);
std::int64_t numberOf(const std::string& path, const std::string& sql);

StreamRequest makeRequest(const std::string& runKey, std::uint64_t incarnation, int rank = 0);
std::shared_ptr<SeriesLayout> makeLayout(std::uint32_t id, Kind kind, std::vector<Stat> stats, int series);
/// A batch with one block a step; `value` says what a cell holds.
template <typename Value>
StepBlock makeBlock(const std::shared_ptr<const SeriesLayout>& layout, std::int64_t step, Value value)
{
    StepBlock block;
    block.layout = layout;
    block.step = Step(step);
    for (std::size_t s = 0; s < layout->stats.size(); ++s) {
        Column column;
        column.stat = layout->stats[s];
        const std::size_t count = layout->cells();
        if (layout->kind == Kind::Scalar) {
            std::vector<double> cells(count);
            for (std::size_t i = 0; i < count; ++i)
                cells[i] = value(step, i, s);
            column.values = std::move(cells);
        } else if (protocolone::columnType(layout->edges, column.stat) == ColumnType::U64) {
            std::vector<std::uint64_t> cells(count);
            for (std::size_t i = 0; i < count; ++i)
                cells[i] = static_cast<std::uint64_t>(value(step, i, s));
            column.values = std::move(cells);
        } else {
            std::vector<float> cells(count);
            for (std::size_t i = 0; i < count; ++i)
                cells[i] = static_cast<float>(value(step, i, s));
            column.values = std::move(cells);
        }
        block.columns.push_back(std::move(column));
    }
    return block;
}

/// A service in a folder with one stream open, and what it has said so far.
class Recorder {
public:
    explicit Recorder(const std::string& dataDir, StoreOptions options = {});
    StoreService& service() { return *m_service; }
    /// Waits for StreamOpened or StreamRefused.
    StreamOpened open(StreamRequest request);
    void send(std::shared_ptr<SampleBatch> batch);
    void send(StreamId stream, std::uint64_t seq, std::vector<StepBlock> blocks);
    /// Waits until everything up to seq is durable.
    bool waitDurable(StreamId stream, std::uint64_t seq, int timeoutMs = 20000);
    void collect();
    std::vector<StoreEvent> events;

private:
    std::unique_ptr<StoreService> m_service;
};

}
