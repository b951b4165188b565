// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telltale {

/// How much of a name is a path of modules with dots between them: that of a call site ("all_reduce (train.py[35])")
/// ends where its place begins. Thread: any (pure).
std::size_t dottedBytes(std::string_view name);

/// The block of the model that a tensor belongs to: its name up to and with the first number ("layers.3"), else its
/// first word ("head"). Thread: any (pure).
std::string blockOf(const std::string& name);

}
