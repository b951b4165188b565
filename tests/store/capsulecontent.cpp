// SPDX-License-Identifier: GPL-3.0-or-later
#include "capsulecontent.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <telltale/core/bytes.h>
#include <telltale/store/sqlite.h>
#include <telltale/store/tailreplay.h>
#include <telltale/store/tilecodec.h>

namespace telltale::store::test {
namespace {

template <typename T> T must(Expected<T> result)
{
    if (!result)
        throw std::runtime_error(result.error().sentence());
    if constexpr (!std::is_void_v<T>)
        return std::move(*result);
}

void appendTile(GroupContent& group, std::size_t stat, const TileView& view)
{
    const auto columns = static_cast<std::size_t>(view.columns());
    const std::size_t before = group.values[stat].size();
    group.values[stat].resize(before + columns * static_cast<std::size_t>(group.lanes));
    std::vector<double> cells(16 * 256);
    for (int block = 0; block < view.subBlocks(); ++block) {
        must(view.decode(PlaneRole::Value, block, cells.data()));
        for (int lane = 0; lane < view.lanesOf(block); ++lane) {
            for (std::size_t column = 0; column < columns; ++column)
                group.values[stat][before + column * static_cast<std::size_t>(group.lanes)
                    + static_cast<std::size_t>(block * 16 + lane)]
                    = cells[static_cast<std::size_t>(lane) * columns + column];
        }
    }
    if (stat != 0)
        return;
    for (std::size_t column = 0; column < columns; ++column) {
        group.steps.push_back(view.firstSteps()[column].value);
        for (int lane = 0; lane < group.lanes; ++lane)
            group.present.push_back(view.isPresent(lane, static_cast<int>(column)) ? 1 : 0);
    }
}

}

std::map<std::int64_t, GroupContent> readContent(const std::string& path)
{
    auto db = must(openDatabase(path, OpenMode::Read));
    must(execute(db.get(), "BEGIN"));
    std::map<std::int64_t, GroupContent> groups;
    auto rows = must(Statement::prepare(db.get(), "SELECT id, stats, series, first_position FROM grp"));
    while (must(rows.step())) {
        GroupContent& group = groups[rows.integer(0)];
        for (char stat : rows.blob(1))
            group.stats.push_back(static_cast<Stat>(stat));
        group.lanes = static_cast<int>(rows.integer(2));
        group.firstPosition = static_cast<int>(rows.integer(3));
        group.values.resize(group.stats.size());
    }
    for (auto& [id, group] : groups) {
        for (std::size_t s = 0; s < group.stats.size(); ++s) {
            auto tiles = must(Statement::prepare(
                db.get(), "SELECT crc, data FROM tile WHERE lvl = 0 AND stat = ? AND grp = ? ORDER BY c0"));
            tiles.bind(1, static_cast<int>(group.stats[s])).bind(2, id);
            while (must(tiles.step())) {
                if (crc32c(tiles.blob(1)) != static_cast<std::uint32_t>(tiles.integer(0)))
                    throw std::runtime_error("crc");
                const std::string data(tiles.blob(1));
                appendTile(group, s, must(openTile(data)));
            }
        }
    }
    const TailReplay replay = must(replayTail(db.get()));
    if (!replay.damage.empty())
        throw std::runtime_error(replay.damage.front());
    for (const auto& tile : replay.openTiles()) {
        GroupContent& group = groups.at(tile->group().value);
        if (tile->firstColumn() != static_cast<std::int64_t>(group.steps.size()))
            throw std::runtime_error("a tile begins at the wrong column");
        for (int column = 0; column < tile->publishedColumns(); ++column) {
            group.steps.push_back(tile->stepAt(column).value);
            for (int lane = 0; lane < group.lanes; ++lane) {
                std::uint8_t present = 0;
                for (std::size_t s = 0; s < group.stats.size(); ++s) {
                    double value = 0;
                    tile->read(lane, static_cast<int>(s), column, 1, &value, &present);
                    group.values[s].push_back(value);
                }
                group.present.push_back(present);
            }
        }
    }
    return groups;
}

std::string metaOf(const std::string& path, const std::string& key)
{
    auto db = must(openDatabase(path, OpenMode::Read));
    auto row = must(Statement::prepare(db.get(), "SELECT value FROM meta WHERE key = ?"));
    return must(row.bindText(1, key).step()) ? std::string(row.text(0)) : std::string();
}

std::int64_t numberOf(const std::string& path, const std::string& sql)
{
    auto db = must(openDatabase(path, OpenMode::Read));
    return must(queryInteger(db.get(), sql));
}

StreamRequest makeRequest(const std::string& runKey, std::uint64_t incarnation, int rank)
{
    StreamRequest request;
    request.runKey = request.runName = runKey;
    request.agentId = "host/" + std::to_string(rank) + "/train";
    request.incarnation = incarnation;
    request.rank = Rank(rank);
    return request;
}

std::shared_ptr<SeriesLayout> makeLayout(std::uint32_t id, Kind kind, std::vector<Stat> stats, int series)
{
    auto layout = std::make_shared<SeriesLayout>();
    layout->id = LayoutId(id);
    layout->kind = kind;
    layout->stats = std::move(stats);
    for (int i = 0; i < series; ++i) {
        SeriesDesc desc;
        desc.name = "module." + std::to_string(i);
        desc.shape = { 4, 5 };
        layout->series.push_back(std::move(desc));
    }
    return layout;
}

Recorder::Recorder(const std::string& dataDir, StoreOptions options)
{
    options.dataDir = dataDir;
    m_service = must(StoreService::start(std::move(options)));
}

void Recorder::collect()
{
    for (StoreEvent& event : m_service->takeEvents())
        events.push_back(std::move(event));
}

StreamOpened Recorder::open(StreamRequest request)
{
    static std::uint64_t token = 0;
    request.token = ++token;
    m_service->openStream(request);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < until) {
        collect();
        for (const StoreEvent& event : events) {
            if (const auto* opened = std::get_if<StreamOpened>(&event); opened && opened->token == token)
                return *opened;
            if (const auto* refused = std::get_if<StreamRefused>(&event); refused && refused->token == token)
                throw std::runtime_error(refused->error.sentence());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw std::runtime_error("the stream was not opened");
}

void Recorder::send(std::shared_ptr<SampleBatch> batch)
{
    const std::shared_ptr<const SampleBatch> shared = std::move(batch);
    while (!m_service->submit(shared))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Recorder::send(StreamId stream, std::uint64_t seq, std::vector<StepBlock> blocks)
{
    auto batch = std::make_shared<SampleBatch>();
    batch->stream = stream;
    batch->seq = seq;
    batch->payload = "payload";
    batch->blocks = std::move(blocks);
    for (const StepBlock& block : batch->blocks)
        batch->samples += sampleCount(block);
    send(std::move(batch));
}

bool Recorder::waitDurable(StreamId stream, std::uint64_t seq, int timeoutMs)
{
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeoutMs);
    for (;;) {
        collect();
        for (const StoreEvent& event : events) {
            const auto* durable = std::get_if<StreamDurable>(&event);
            if (durable && durable->stream == stream && durable->seq >= seq)
                return true;
        }
        if (std::chrono::steady_clock::now() > until)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}
