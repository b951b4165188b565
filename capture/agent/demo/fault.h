// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <telltale/core/expected.h>

namespace telltale::demo {

enum class FaultKind {
    None,
#define TELLTALE_FAULT(kind, ...) kind,
#include <telltale/demo/faulttable.h>
#undef TELLTALE_FAULT
};
enum class FaultWhere { Output, Weights, Gradients, Module, Training };
enum class FaultFits { None, Any, Matrix, Parameters, Attention }; ///< Matrix: its own weight is one

/// A row of faulttable.h.
struct FaultFacts {
    FaultKind kind = FaultKind::None;
    std::string_view name {};
    FaultWhere where = FaultWhere::Training;
    FaultFits fits = FaultFits::None;
    std::string_view usual {};
    bool isLasting = false; ///< not at one step alone
    double strength = 0;
};
const FaultFacts& factsOf(FaultKind kind);
/// "nan|inf|...", in the order of the table.
std::string faultNames(std::string_view between);

/// What goes wrong, when and where, as `--fault KIND@STEP[:MODULE][:RANK]` says it. Thread: any (a value).
struct Fault {
    FaultKind kind = FaultKind::None;
    std::int64_t step = 0;
    std::string module {}; ///< empty: the trainer chooses one that suits the kind
    std::optional<int> rank {}; ///< empty: every one

    /// Whether it is this one, now. A lull is what comes before its step.
    bool strikes(FaultKind which, std::int64_t at) const;
    /// Factor on the attention scores of `name`.
    double scoreFactor(std::int64_t at, std::string_view name) const;
    /// Factor on the queries and on the keys of `name`.
    double inputFactor(std::int64_t at, std::string_view name) const;
    double learningRateFactor(std::int64_t at) const;
    double lossFactor(std::int64_t at) const;
};

/// "nan@120:layers.1.mlp.fc1". The module's existence is checked later, against the model.
Expected<Fault> parseFault(std::string_view text);

}
