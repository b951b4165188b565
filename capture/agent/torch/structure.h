// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <torch/torch.h>

namespace telltale {

/// The model as JSON: {"name": dotted name ("" = the root), "type", "parameters": [{"name", "shape", "dtype",
/// "trainable", "device"}], "children": [the same again]}, children in registration order. A parameter that stood
/// before has "shared": its first name. Thread: training.
std::string structureJson(const torch::nn::Module& module);

}
