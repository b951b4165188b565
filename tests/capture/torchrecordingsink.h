// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <telltale/torch/sink.h>

namespace telltale {

/// A Sink that keeps everything, for tests to ask. Thread: as Sink.
class RecordingSink final : public Sink {
public:
    struct Layout {
        Kind kind = Kind::Unspecified;
        std::vector<Stat> stats;
        std::vector<SeriesDesc> series;
    };
    struct Block {
        std::size_t layout = 0; ///< index
        std::vector<tt_stats> results;
        std::vector<float> floats;
        std::vector<double> doubles;
        std::vector<std::uint8_t> present;
    };

    /// To be in force from a step on.
    struct Offer {
        std::int64_t step = 0;
        std::uint64_t rev = 0;
        std::string json;
    };
    struct InForce {
        std::uint64_t rev = 0;
        std::int64_t step = 0;
        std::string json, why;
    };
    std::vector<Offer> offers; ///< by rev
    std::vector<std::string> refusals;
    std::atomic<bool> isServerThere { false };

    /// What was said to be in force.
    std::vector<InForce> inForce() const
    {
        const std::lock_guard lock(m_inForceLock);
        return m_inForce;
    }
    std::string asked; ///< of the flight recorder
    std::optional<std::string_view> recorderAsked() override
    {
        m_asked.swap(asked);
        asked.clear();
        return m_asked.empty() ? std::nullopt : std::optional<std::string_view>(m_asked);
    }
    std::optional<DueConfig> configDue(std::int64_t step) override
    {
        for (const Offer& offer : offers)
            if (offer.step <= step && offer.rev > std::exchange(m_newest, std::max(m_newest, offer.rev)))
                return DueConfig { offer.rev, offer.json };
        return std::nullopt;
    }
    void setConfigInForce(
        std::uint64_t rev, std::int64_t step, const std::string& json, const std::string& why) override
    {
        const std::lock_guard lock(m_inForceLock);
        m_inForce.push_back({ rev, step, json, why });
    }
    void refuseConfig(std::uint64_t, std::int64_t, const std::string& why) override { refusals.push_back(why); }
    bool isConfigOffered(const std::string&) override { return false; }
    bool isSteered() const override { return isServerThere; }

    struct Cost {
        std::chrono::nanoseconds inside, elapsed;
    };
    std::vector<Cost> costs; ///< a step each

    void cost(std::chrono::nanoseconds inside, std::chrono::nanoseconds elapsed) override
    {
        costs.push_back({ inside, elapsed });
    }
    std::int64_t every = 0; ///< as a budget has it

    void thinning(std::int64_t fewer, double) override { every = fewer; }
    std::uint32_t addLayout(Kind kind, std::span<const Stat> stats, std::span<const SeriesDesc> series) override
    {
        layouts.push_back({ kind, { stats.begin(), stats.end() }, { series.begin(), series.end() } });
        return static_cast<std::uint32_t>(layouts.size());
    }
    bool beginStep(std::int64_t step) override
    {
        m_step = step;
        return !isFull;
    }
    tt_stats* stats(std::uint32_t layout) override
    {
        auto& block = add(layout);
        block.results.resize(layouts[layout - 1].series.size());
        return block.results.data();
    }
    float* floats(std::uint32_t layout, std::uint8_t** present) override
    {
        auto& block = add(layout);
        const auto& l = layouts[layout - 1];
        block.floats.resize(l.stats.size() * l.series.size());
        block.present.resize(l.series.size());
        *present = block.present.data();
        return block.floats.data();
    }
    double* doubles(std::uint32_t layout, std::uint8_t** present) override
    {
        auto& block = add(layout);
        block.doubles.resize(layouts[layout - 1].series.size());
        block.present.resize(block.doubles.size());
        *present = block.present.data();
        return block.doubles.data();
    }
    void commitStep() override { }
    void dropped(std::int64_t, std::uint64_t samples, std::uint64_t scalars) override
    {
        droppedSamples += samples;
        droppedScalars += scalars;
    }
    void abandonStep() override { steps.erase(m_step); }
    void event(const char*, std::int64_t, const std::string& text, const std::string&, const char*) override
    {
        events.push_back(text);
    }
    void blob(const char* kind, const char*, std::int64_t, std::string_view bytes) override
    {
        blobs[kind] = std::string(bytes);
    }

    /// The six ops of a series at a step; nothing when it was not measured then.
    std::optional<tt_stats> find(
        std::int64_t step, Kind kind, const std::string& name, const std::string& slot = {}, int micro = -1) const
    {
        const auto place = locate(step, kind, name, slot, micro);
        if (!place.block || (place.block->results[place.series].flags & TT_STATS_PRESENT) == 0)
            return std::nullopt;
        return place.block->results[place.series];
    }
    /// One value of a scalar or an attention head.
    std::optional<double> value(std::int64_t step, Kind kind, const std::string& name, const std::string& slot = {},
        std::size_t stat = 0, int micro = -1) const
    {
        const auto place = locate(step, kind, name, slot, micro);
        if (!place.block || place.block->present[place.series] == 0)
            return std::nullopt;
        if (kind == Kind::Scalar)
            return place.block->doubles[place.series];
        return static_cast<double>(place.block->floats[stat * place.block->present.size() + place.series]);
    }
    bool has(std::int64_t step, Kind kind) const
    {
        const auto found = steps.find(step);
        if (found == steps.end())
            return false;
        for (const auto& block : found->second) {
            if (layouts[block.layout].kind == kind)
                return true;
        }
        return false;
    }
    std::size_t layoutsOf(Kind kind) const
    {
        std::size_t count = 0;
        for (const auto& layout : layouts)
            count += layout.kind == kind ? 1u : 0u;
        return count;
    }

    std::vector<Layout> layouts;
    std::map<std::int64_t, std::vector<Block>> steps;
    std::vector<std::string> events;
    std::map<std::string, std::string> blobs;
    std::uint64_t droppedSamples = 0;
    std::uint64_t droppedScalars = 0;
    bool isFull = false;

private:
    struct Place {
        const Block* block = nullptr;
        std::size_t series = 0;
    };

    Block& add(std::uint32_t layout)
    {
        auto& blocks = steps[m_step];
        blocks.push_back({});
        blocks.back().layout = layout - 1;
        return blocks.back();
    }
    Place locate(std::int64_t step, Kind kind, const std::string& name, const std::string& slot, int micro) const
    {
        const auto found = steps.find(step);
        if (found == steps.end())
            return {};
        for (const auto& block : found->second) {
            const auto& layout = layouts[block.layout];
            for (std::size_t i = 0; layout.kind == kind && i < layout.series.size(); ++i) {
                const auto& series = layout.series[i];
                if (series.name == name && series.slot.text() == slot && series.microStep == micro)
                    return { &block, i };
            }
        }
        return {};
    }

    std::int64_t m_step = 0;
    std::string m_asked;
    std::uint64_t m_newest = 0; ///< offer that was asked for
    mutable std::mutex m_inForceLock;
    std::vector<InForce> m_inForce;
};

}
