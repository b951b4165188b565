// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "capsulebuilder.h"
#include "capsulecontent.h"

namespace telltale::test {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What a made-up training measures: a model of four blocks with a linear layer each, on some ranks.
struct Training {
    int ranks = 1;
    int steps = 200;
    int microSteps = 1; ///< those behind the first are told by " µ1", " µ2" at the end of their names in `value`
    bool hasChecksums = false;
    std::vector<Kind> kinds { Kind::Actv, Kind::ActvGrad, Kind::GradReduced, Kind::ParamUpdated, Kind::Scalar };
    std::vector<Stat> stats { Stat::Norm, Stat::Nans }; ///< of tensors, these two first
    std::function<double(int, const std::string&)> zeros = [](int, const std::string&) { return 0.0; };
    std::function<double(int, const std::string&)> maxLogit = [](int, const std::string&) { return 5.0; };
    std::function<double(int, std::size_t)> mean = [](int, std::size_t) { return 0.0; };
    std::function<bool(int, Kind)> collects = [](int, Kind) { return true; }; ///< at a step
    /// The norm of a tensor, its checksum, or a scalar: rank, step, kind, name with slot; the usual value last. NaN: an
    /// element is NaN.
    std::function<double(int, int, Kind, const std::string&, double)> value
        = [](int, int, Kind, const std::string&, double usual) { return usual; };

    static std::vector<SeriesDesc> tensors(Kind kind)
    {
        std::vector<SeriesDesc> all;
        const auto add = [&all](const std::string& name, Slot slot) {
            SeriesDesc series;
            series.name = name;
            series.slot = std::move(slot);
            series.shape = { 4, 8 };
            series.dtype = DType::F32;
            series.numel = 32;
            all.push_back(std::move(series));
        };
        for (int block = 0; block < 4; ++block) {
            const std::string name = "layers." + std::to_string(block) + ".fc";
            if (kind != Kind::Actv && kind != Kind::ActvGrad) {
                add(name + ".weight", {});
                continue;
            }
            add(name, Slot::input());
            add(name, Slot::output());
            add("layers." + std::to_string(block), Slot::input());
            add("layers." + std::to_string(block), Slot::output());
        }
        return all;
    }

    static std::vector<SeriesDesc> heads()
    {
        std::vector<SeriesDesc> all;
        for (int head = 0; head < 8; ++head) {
            SeriesDesc series;
            series.name = "layers." + std::to_string(head / 2) + ".attn";
            series.slot = Slot::ofHead(head % 2);
            series.dtype = DType::F32;
            all.push_back(std::move(series));
        }
        return all;
    }

    void write(CapsuleBuilder& builder) const
    {
        for (int rank = 0; rank < ranks; ++rank)
            write(builder, builder.addAttempt(Rank { rank }, 0), rank, 0, steps);
    }

    void write(CapsuleBuilder& builder, std::int64_t stream, int rank, int from, int to) const
    {
        constexpr int kBatch = 100;
        const auto layouts = makeLayouts();
        for (int first = from; first < to; first += kBatch) {
            std::vector<StepBlock> blocks;
            for (int step = first; step < std::min(to, first + kBatch); ++step) {
                for (const auto& layout : layouts) {
                    if (collects(step, layout->kind))
                        blocks.push_back(blockOf(layout, rank, step));
                }
            }
            builder.stage(stream, std::move(blocks));
        }
        builder.commit();
    }

    /// To a server's store, a batch for each step of rank 0; seq: of the last batch.
    void send(store::test::Recorder& recorder, StreamId stream, std::uint64_t& seq, int from, int to) const
    {
        const auto layouts = makeLayouts();
        for (int step = from; step < to; ++step) {
            std::vector<StepBlock> blocks;
            for (const auto& layout : layouts)
                blocks.push_back(blockOf(layout, 0, step));
            recorder.send(stream, ++seq, std::move(blocks));
        }
    }

    std::vector<std::shared_ptr<const SeriesLayout>> makeLayouts() const
    {
        std::vector<std::shared_ptr<const SeriesLayout>> layouts;
        for (const Kind kind : kinds) {
            auto layout = std::make_shared<SeriesLayout>();
            layout->id = LayoutId { static_cast<std::uint32_t>(layouts.size()) + 1 };
            layout->kind = kind;
            if (kind == Kind::Attention) {
                layout->stats = { Stat::Entropy, Stat::MaxLogit };
                layout->series = heads();
            } else if (kind == Kind::Scalar) {
                layout->stats = { Stat::Value };
                for (const char* name : { "loss", "lr", "loss-scale", "forward_ms" }) {
                    SeriesDesc series;
                    series.name = name;
                    layout->series.push_back(std::move(series));
                }
            } else {
                layout->stats = stats;
                if (hasChecksums && kind == Kind::ParamUpdated)
                    layout->stats.push_back(Stat::Checksum);
                for (int micro = 0; micro < microSteps; ++micro) {
                    for (SeriesDesc& series : tensors(kind)) {
                        series.microStep = microSteps == 1 ? -1 : micro;
                        layout->series.push_back(std::move(series));
                    }
                }
            }
            layouts.push_back(std::move(layout));
        }
        return layouts;
    }

    StepBlock blockOf(const std::shared_ptr<const SeriesLayout>& layout, int rank, int step) const
    {
        return store::test::makeBlock(layout, step, [&](std::int64_t, std::size_t i, std::size_t stat) -> double {
            const SeriesDesc& series = layout->series[i];
            std::string text = series.slot.hasText() ? series.name + ':' + series.slot.text() : series.name;
            if (series.microStep > 0)
                text += " µ" + std::to_string(series.microStep);
            if (layout->kind == Kind::Scalar)
                return value(rank, step, layout->kind, text,
                    text == "loss"     ? 2.0 + noise(step, 7)
                        : text == "lr" ? 1e-3
                                       : 0.0);
            if (layout->stats[stat] == Stat::MaxLogit)
                return maxLogit(step, text);
            if (layout->stats[stat] == Stat::Zeros)
                return zeros(step, text);
            if (layout->stats[stat] == Stat::Mean)
                return mean(step, i);
            if (layout->stats[stat] == Stat::Checksum) // the same on all ranks
                return value(rank, step, Kind::Unspecified, text, 1000.0 * step + static_cast<double>(i));
            // Noise of its own for each tensor, the same on all ranks.
            const double usual = (1 + static_cast<double>(i)) * std::exp(noise(step, static_cast<int>(i)))
                + (layout->kind == Kind::ParamUpdated ? 100 : 0);
            const double now = value(rank, step, layout->kind, text, usual);
            if (stat == 1)
                return std::isnan(now) ? 1 : 0;
            return std::isnan(now) ? usual : now;
        });
    }

    /// Normal, with a deviation of 0.2, by its place alone.
    static double noise(int step, int series)
    {
        // Twelve uniform numbers make a normal one.
        std::uint64_t bits = static_cast<std::uint64_t>(step) * 1'000'003 + static_cast<std::uint64_t>(series);
        double sum = -6;
        for (int i = 0; i < 12; ++i) {
            bits += 0x9E3779B97F4A7C15u;
            std::uint64_t mixed = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
            sum += static_cast<double>((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
        }
        return 0.2 * sum;
    }
};

}
