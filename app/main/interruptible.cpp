// SPDX-License-Identifier: GPL-3.0-or-later
#include "interruptible.h"

#include <atomic>

namespace telltale::app {
namespace {

std::atomic<bool> wasInterrupted { false };

}

Interruptible::Interruptible()
{
    wasInterrupted = false;
    struct sigaction action { };
    action.sa_handler = [](int) { wasInterrupted = true; };
    sigaction(SIGINT, &action, &m_interrupt);
    sigaction(SIGTERM, &action, &m_terminate);
}

Interruptible::~Interruptible()
{
    sigaction(SIGINT, &m_interrupt, nullptr);
    sigaction(SIGTERM, &m_terminate, nullptr);
}

bool Interruptible::wasAsked()
{
    return wasInterrupted;
}

}
