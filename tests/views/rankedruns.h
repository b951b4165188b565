// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <QFile>

#include <telltale/ranks/ranksview.h>

#include "heatfixture.h"
#include "viewonrun.h"

namespace telltale::test {

/// A Ranks view of runs that stand in files and whose numbers are known. A test class has it as a base, calls open() in
/// its init() and close() in its cleanup(). Thread: the test's.
class RankedRuns : protected ViewOnRun<views::RanksView> {
protected:
    static constexpr int kLayers = 5;
    static constexpr int kRanks = 8; ///< four copies of two parts
    static constexpr int kSteps = 240;
    static constexpr int kOdd = 5;
    static constexpr int kBroken = 2;
    static constexpr int kBreaks = 200; ///< the step from which kBroken's first layer is NaN
    static constexpr int kMoves = 100; ///< the step from which the first layer of "still" is not zero
    static constexpr int kDrifted = 3;
    static constexpr int kDrifts = 111; ///< the step from which kDrifted's third layer has other bits
    static constexpr int kEnds = 200; ///< where kDrifted and rank 0 of "ended" have no more steps

    static views::ModuleKey layer(int number) { return { QStringLiteral("layers.%1.weight").arg(number) }; }
    static float valueOf(int rank, int step, int number)
    {
        if (rank == kBroken && number == 0 && step >= kBreaks)
            return std::nanf("");
        const double level = std::pow(4.0, number) * (1 + 0.3 * (rank % 2));
        return static_cast<float>(level * (1 + 0.01 * std::sin(step * 0.7 + rank)) * (rank == kOdd ? 3 : 1));
    }

    /// Opens a run that is written when it is first asked for: "run", or another that differs from it in one thing.
    void open(const std::string& name)
    {
        if (!QFile::exists(QString::fromStdString(path(name))))
            write(path(name), m_made.at(name));
        openFile(path(name));
        m_state->setKind(Kind::ParamUpdated);
    }
    static int roseIn(const QImage& image) { return inkIn(image, views::Theme::current().criticalMark); }
    static int inkIn(const QImage& image, const QColor& color) { return pixelsOf(image, color.rgb()); }

private:
    struct MadeUp {
        bool hasPlaces = true;
        bool isBroken = false; ///< from kBreaks on nothing is finite, and there are no checksums
        bool isStill = false; ///< all ranks have kMoves
        int every = 1; ///< steps from one that is collected to the next; of more, collectives have no checksums
        int ends = kSteps; ///< where kDrifted and rank 0 do
        bool hasMicroSteps = false; ///< step 0 has a second one
    };
    static std::uint64_t bitsOf(int rank, int step, int number)
    {
        const auto own = (static_cast<std::uint64_t>(step) * 64 + static_cast<std::uint64_t>(number * 2 + rank % 2) + 1)
            * 0x9E3779B97F4A7C15u;
        return rank == kDrifted && number == 2 && step >= kDrifts ? own ^ 1u : own;
    }
    static void write(const std::string& path, const MadeUp& made)
    {
        CapsuleBuilder builder(path, "gpt");
        std::vector<std::string> names;
        for (int i = 0; i < kLayers; ++i)
            names.push_back(layer(i).name.toStdString());
        std::vector<Stat> stats { Stat::Norm, Stat::Nans };
        if (!made.isBroken)
            stats.push_back(Stat::Checksum);
        const auto layout = builder.addLayout(Kind::ParamUpdated, stats, names);
        auto later = std::make_shared<SeriesLayout>(*builder.addLayout(Kind::ParamUpdated, stats, names));
        for (SeriesDesc& desc : later->series)
            desc.microStep = 1;
        const auto calls = builder.addLayout(Kind::Comm, { Stat::Norm }, { "all_reduce" });
        for (int rank = 0; rank < kRanks; ++rank) {
            const std::array<int, 4> place
                = made.hasPlaces ? std::array { rank / 2, rank % 2, -1, -1 } : std::array { -1, -1, -1, -1 };
            const std::int64_t stream = builder.addAttempt(Rank { rank }, 0, "host", place);
            std::vector<StepBlock> blocks;
            for (int step = 0; step < (rank == 0 || rank == kDrifted ? made.ends : kSteps); step += made.every) {
                StepBlock block;
                block.layout = layout;
                block.step = Step { step };
                std::vector<float> norms;
                std::vector<std::uint64_t> nans;
                std::vector<std::uint64_t> bits;
                for (int i = 0; i < kLayers; ++i) {
                    const float value = made.isBroken && step >= kBreaks ? std::nanf("") : valueOf(rank, step, i);
                    const bool isZero = made.isStill && i == 0 && step < kMoves;
                    norms.push_back(isZero ? 0 : (std::isnan(value) ? 1 : value));
                    nans.push_back(std::isnan(value) ? 1 : 0);
                    bits.push_back(bitsOf(rank, step, i));
                }
                block.columns = { { Stat::Norm, norms }, { Stat::Nans, nans } };
                if (!made.isBroken)
                    block.columns.push_back({ Stat::Checksum, bits });
                blocks.push_back(block);
                if (made.hasMicroSteps && step == 0) {
                    block.layout = later;
                    blocks.push_back(block);
                }
                if (made.every > 1) {
                    block.layout = calls;
                    block.columns = { { Stat::Norm, std::vector<float> { 1 } } };
                    blocks.push_back(block);
                }
            }
            builder.stage(stream, std::move(blocks));
            builder.commit();
        }
        builder.releaseAll();
        builder.finish();
    }

    const std::map<std::string, MadeUp> m_made {
        { "run", {} },
        { "plain", { .hasPlaces = false } },
        { "broken", { .isBroken = true } },
        { "still", { .isStill = true } },
        { "sparse", { .every = 5 } },
        { "ended", { .ends = kEnds } },
        { "micro", { .hasMicroSteps = true } },
    };
};

}
