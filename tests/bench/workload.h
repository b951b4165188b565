// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/samplebatch.h>

namespace telltale::bench {

/// Statistics as a training run makes them: every tensor has its own scale, values wander slowly under noise of a few
/// percent, zeros and counts are nearly always 0. Deterministic. Thread: owned by one.
class Workload {
public:
    explicit Workload(int tensors, unsigned seed = 1);

    const std::shared_ptr<const SeriesLayout>& layout() const { return m_layout; }
    /// The next step's block (steps 0, 1, 2, ...).
    StepBlock next();
    /// Payloads of `stepsPerBatch` steps each, the first carrying the layout.
    std::vector<std::string> payloads(int steps, int stepsPerBatch);
    std::uint64_t samplesPerStep() const { return m_layout->series.size() * 6; }

private:
    float noise();

    std::shared_ptr<const SeriesLayout> m_layout;
    std::vector<float> m_scale;
    std::uint64_t m_random;
    std::int64_t m_step = 0;
};

}
