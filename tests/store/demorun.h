// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <limits>
#include <string>

#include <QDir>
#include <QString>
#include <QTemporaryDir>

#include "capsulebuilder.h"

namespace telltale::test {

/// A finished run of two ranks and 300 steps, with NaNs at step 7 and an infinite loss at step 8, in `dataDir`'s runs;
/// its path.
inline std::string writeDemoRun(const QString& dataDir)
{
    if (!QDir(dataDir).mkpath(QStringLiteral("runs")))
        qFatal("no folder for runs");
    const std::string path = dataDir.toStdString() + "/runs/2026-11-21_demo_abc123.telltale";
    CapsuleBuilder builder(path);
    for (int rank = 0; rank < 2; ++rank) {
        const auto stream = builder.addAttempt(Rank { rank }, 0);
        const auto weights = builder.addLayout(
            Kind::ParamOrigin, { Stat::Norm, Stat::Min, Stat::Max, Stat::Nans }, { "fc.weight", "fc.bias" });
        const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
        for (std::int64_t step = 0; step < 300; ++step) {
            StepBlock block;
            block.layout = weights;
            block.step = Step { step };
            const float value = static_cast<float>(step) + 0.1f;
            block.columns = { { Stat::Norm, std::vector<float> { value, 2 } },
                { Stat::Min, std::vector<float> { -value, 0 } }, { Stat::Max, std::vector<float> { 1, 1 } },
                { Stat::Nans, std::vector<std::uint64_t> { step == 7 ? 3u : 0u, 0u } } };
            StepBlock scalar;
            scalar.layout = scalars;
            scalar.step = Step { step };
            const double loss
                = step == 8 ? std::numeric_limits<double>::infinity() : 1.0 / static_cast<double>(step + 1);
            scalar.columns = { { Stat::Value, std::vector<double> { loss } } };
            builder.stage(stream, { block, scalar });
        }
        builder.commit();
    }
    builder.finish();
    return path;
}

/// A data directory with that run. A test class has it as a base. Thread: the test's.
struct DemoRun {
    const QTemporaryDir m_dir;
    const std::string m_path = writeDemoRun(m_dir.path());
};

}
