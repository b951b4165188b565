// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>

namespace telltale::demo {

enum class FaultKind {
    None,
    Nan, ///< one element of the module's output is NaN at the step
    Inf, ///< one element of the module's output is +Inf at the step
    Spike, ///< the module's output is multiplied by 1000 at the step
    Freeze, ///< the module's parameters get no gradient from the step on
    EntropyCollapse, ///< the module's attention scores grow from the step on, until each query looks at one key
    LearningRate, ///< the learning rate is 30 times too high from the step on
};

/// What goes wrong, when and where, as `--fault KIND@STEP[:MODULE]` says it. Thread: any (a value).
struct Fault {
    FaultKind kind = FaultKind::None;
    std::int64_t step = 0;
    std::string module; ///< empty: the trainer chooses one that suits the kind

    /// Nan, Inf and Spike happen at one step.
    bool strikesOutputAt(std::int64_t at, std::string_view name) const;
    bool freezesAt(std::int64_t at) const { return kind == FaultKind::Freeze && at == step; }
    /// Factor on the attention scores of `name`.
    double scoreFactor(std::int64_t at, std::string_view name) const;
    double learningRateFactor(std::int64_t at) const;
};

/// "nan@120:layers.1.mlp.fc1". The module's existence is checked later, against the model.
Expected<Fault> parseFault(std::string_view text);

}
