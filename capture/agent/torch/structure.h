// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <torch/torch.h>

namespace telltale {

/// The model as JSON: {"name": dotted name ("" = the root), "type", "parameters": [{"name", "shape", "dtype",
/// "trainable"}], "children": [the same again]}, children in registration order. Thread: training.
std::string structureJson(const torch::nn::Module& module);

}
