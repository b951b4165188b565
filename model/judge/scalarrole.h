// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace telltale::judge {

/// What a scalar is, by the names that trainings give it.
enum class ScalarRole : unsigned char { Other, Loss, GradNorm, LearningRate, LossScale, ComputeTime };
ScalarRole scalarRoleOf(std::string_view name);
/// How long something took, or how much of it was done in a time: never the same twice.
bool isTiming(std::string_view name);

}
