// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QComboBox>
#include <QFile>

#include <telltale/attention/attentionview.h>

#include "viewonrun.h"

namespace telltale::test {

/// An Attention view of runs that stand in files and whose numbers are known. A test class has it as a base, calls
/// open() in its init() and close() in its cleanup(). Thread: the test's.
class AttendedRuns : protected ViewOnRun<views::AttentionView> {
protected:
    static constexpr int kLayers = 4;
    static constexpr int kHeads = 6; ///< three share a key
    static constexpr int kSteps = 700;
    static constexpr int kKeys = 64;
    static constexpr int kRanks = 2;
    static constexpr std::array kCollapses { 2, 3 };
    static constexpr std::array kFalls { 0, 1 };
    static constexpr std::array kBreaks { 1, 0 }; ///< on rank 1
    static constexpr std::array kLooksAtAll { 3, 5 };
    static constexpr int kBroken = 650;
    static constexpr int kMapEach = 50; ///< steps between attention maps
    static constexpr int kMapSize = 16; ///< rows and columns
    static constexpr std::array kMappedHeads { 1, 3 };
    static constexpr int kMapBroken = 550; ///< step from which a query of layers.2 head 3 is not finite

    static views::ModuleKey head(int layer, int number)
    {
        return { QStringLiteral("layers.%1.attn").arg(layer), Slot::ofHead(number) };
    }

    /// What a head of the made-up run shows.
    static std::array<float, 3> numbersOf(int rank, int step, int layer, int number)
    {
        double entropy = 1.5 + 0.2 * layer + 0.1 * number + 0.05 * std::sin(step / 7.0 + number + rank);
        double highest = 0.3 + 0.01 * number;
        if (std::array { layer, number } == kCollapses && step > 200)
            entropy = std::max(0.02, entropy * std::exp(-(step - 200) / 80.0)), highest = 0.99;
        if (std::array { layer, number } == kFalls && step > 200)
            entropy *= 0.6;
        if (std::array { layer, number } == kLooksAtAll)
            entropy = std::log(kKeys), highest = 1.0 / kKeys;
        if (rank == 1 && std::array { layer, number } == kBreaks && step >= kBroken)
            entropy = highest = std::nan("");
        return { static_cast<float>(entropy), static_cast<float>(highest), static_cast<float>(4 + layer - number) };
    }

    /// A cell of an attention map of the made-up run, none above the diagonal; of float16's own numbers.
    static float shareOf(int rank, int step, int layer, int number, int row, int column)
    {
        if (column > row)
            return analysis::HeadMaps::kUnseen;
        if (step >= kMapBroken && layer == 2 && number == 3 && row == 5)
            return std::nanf("");
        return static_cast<float>(1 + (rank + step / kMapEach + layer + number + 3 * row + column) % 32) / 64.0F;
    }

    /// Opens a run that is written when it is first asked for: "run", or another that differs from it in one thing.
    void open(const std::string& name)
    {
        if (!QFile::exists(QString::fromStdString(path(name))))
            write(path(name), m_made.at(name));
        openFile(path(name));
        m_state->setRanks(std::vector<Rank> {});
    }
    /// As a user does.
    void choose(const char* box, const QVariant& value)
    {
        settle();
        auto* combo = m_view->findChild<QComboBox*>(QString::fromLatin1(box));
        QVERIFY(combo);
        const int index = combo->findData(value);
        QVERIFY2(index >= 0, box);
        combo->setCurrentIndex(index);
        Q_EMIT combo->activated(index);
        settle();
    }

private:
    struct MadeUp {
        bool hasAttention = true;
        int steps = kSteps;
        int each = 1; ///< steps from one that has attention to the next
        int micros = 1; ///< micro steps of a step
        std::optional<int> stepsOfRank1 = {}; ///< where it ends before the others
    };
    static std::uint16_t halfOf(float value)
    {
        if (std::isnan(value))
            return 0x7E00;
        if (value == 0)
            return 0;
        int exponent = 0;
        const float mantissa = std::frexp(std::abs(value), &exponent); // in [0.5, 1)
        return static_cast<std::uint16_t>(
            (value < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) | static_cast<int>((mantissa * 2 - 1) * 1024));
    }

    static Blob mapsOf(int rank, int step, int layer)
    {
        Blob blob;
        blob.id = "attention_map-" + std::to_string(step * 10 + layer);
        blob.kind = "attention_map";
        blob.name = (layer == 2 ? "module.layers." : "layers.") + std::to_string(layer) + ".attn"; // as DDP names it
        blob.step = Step { step };
        blob.bytes = R"({"format":1,"dtype":"float16","heads":[1,3],"shape":[6,2,64,64],"rows":16,"columns":16,)"
                     R"("queries_per_row":4,"keys_per_column":4,"looked":64,"scale":0.25,"call":0,"chunk":0,)"
                     R"("definition":"made up"})"
                     "\n";
        for (const int number : kMappedHeads) {
            for (int row = 0; row < kMapSize; ++row) {
                for (int column = 0; column < kMapSize; ++column) {
                    const auto bits = halfOf(shareOf(rank, step, layer, number, row, column));
                    blob.bytes += static_cast<char>(bits & 0xFF);
                    blob.bytes += static_cast<char>(bits >> 8);
                }
            }
        }
        return blob;
    }

    static StepBlock blockOf(const std::shared_ptr<const SeriesLayout>& layout, int step)
    {
        StepBlock block;
        block.layout = layout;
        block.step = Step { step };
        return block;
    }

    static void write(const std::string& path, const MadeUp& made)
    {
        CapsuleBuilder builder(path, "gpt-4l");
        auto layout = std::make_shared<SeriesLayout>(
            *builder.addLayout(Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax, Stat::MaxLogit }, {}));
        for (int i = 0; i < made.micros * kLayers * kHeads; ++i) {
            SeriesDesc series;
            series.microStep = i < kLayers * kHeads ? -1 : i / (kLayers * kHeads);
            series.name = "layers." + std::to_string(i / kHeads % kLayers) + ".attn";
            series.slot = Slot::ofHead(i % kHeads);
            series.shape = { kHeads, 2, kKeys, kKeys };
            series.numel = 32;
            series.definition = "mean over 32 of 64 queries";
            layout->series.push_back(std::move(series));
        }
        auto headZero = std::make_shared<SeriesLayout>(
            *builder.addLayout(Kind::Attention, { Stat::Entropy, Stat::SoftmaxMax }, { "layers.0.attn" }));
        headZero->series.front().slot = Slot::named("attention");
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        for (int rank = 0; rank < kRanks; ++rank) {
            const std::int64_t stream = builder.addAttempt(Rank { rank }, 0);
            std::vector<StepBlock> blocks;
            std::vector<Blob> maps;
            for (int step = 0; step < (rank == 1 ? made.stepsOfRank1.value_or(made.steps) : made.steps); ++step) {
                for (int layer = 1; made.hasAttention && step >= kMapEach && step % kMapEach == 0 && layer < 3; ++layer)
                    maps.push_back(mapsOf(rank, step, layer));
                StepBlock loss = blockOf(scalars, step);
                loss.columns = { { Stat::Value, std::vector<double> { 3.0 } } };
                blocks.push_back(loss);
                if (!made.hasAttention || step % made.each != 0)
                    continue;
                StepBlock block = blockOf(layout, step);
                std::array<std::vector<float>, 3> columns;
                for (int i = 0; i < made.micros * kLayers * kHeads; ++i) {
                    const auto numbers = numbersOf(rank, step, i / kHeads % kLayers, i % kHeads);
                    for (std::size_t stat = 0; stat < 3; ++stat)
                        columns[stat].push_back(numbers[stat]);
                }
                block.columns = { { Stat::Entropy, columns[0] }, { Stat::SoftmaxMax, columns[1] },
                    { Stat::MaxLogit, columns[2] } };
                blocks.push_back(block);
                StepBlock zero = blockOf(headZero, step);
                zero.columns = { { Stat::Entropy, std::vector<float> { 0.5F } },
                    { Stat::SoftmaxMax, std::vector<float> { 0.75F } } };
                blocks.push_back(zero);
            }
            builder.stage(stream, std::move(blocks), {}, {}, std::move(maps));
            builder.commit();
        }
        builder.releaseAll();
        builder.finish();
    }

    const std::map<std::string, MadeUp> m_made {
        { "run", {} },
        { "plain", { .hasAttention = false } },
        { "short", { .steps = 260 } },
        { "sampled", { .steps = 260, .each = 5 } },
        { "accumulated", { .steps = 60, .micros = 2 } },
        { "ended", { .steps = 60, .stepsOfRank1 = 50 } },
    };
};

}
