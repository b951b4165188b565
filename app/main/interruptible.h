// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <csignal>

namespace telltale::app {

/// While it lives, Ctrl+C and SIGTERM end the work of a verb and not the program, so that nothing half-written is left.
/// Thread: the verb's, one at a time.
class Interruptible {
public:
    Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;
    ~Interruptible();

    static bool wasAsked(); ///< to end

private:
    struct sigaction m_interrupt {
    }, m_terminate {};
};

}
