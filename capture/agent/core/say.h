// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <telltale/core/nothrow.h>
#include <telltale/core/plaintext.h>

namespace telltale::agent {

/// One line on the training's standard error; seldom, and never from a hook's usual way. Not through a logger: its lock
/// would stay taken in a process forked while it is held, and it is larger than what it would do here. Thread: any.
inline void say(std::string_view sentence) noexcept
{
    withoutThrowing([&] { std::fputs(("telltale: " + terminalText(sentence) + "\n").c_str(), stderr); });
}

}
