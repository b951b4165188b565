// SPDX-License-Identifier: GPL-3.0-or-later
#include "signals.h"

#include <cerrno>
#include <csignal>

#include <sys/socket.h>
#include <unistd.h>

#include <telltale/items/guithread.h>

namespace telltale::app {
namespace {

// A signal handler may touch little more than a descriptor: it must be reachable without an object.
int g_pipe[2] = { -1, -1 };

void onSignal(int)
{
    const int before = errno; // the call that we interrupt tells of itself by it
    const char byte = 1;
    [[maybe_unused]] const auto n = ::write(g_pipe[1], &byte, 1);
    errno = before;
}

void install(void (*handler)(int))
{
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

}

Signals::Signals(QObject* parent)
    : QObject(parent)
{
    items::assertGuiThread();
    // Nobody reads any more while the program ends: however many signals come then, none may wait for room.
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, g_pipe) != 0)
        return;
    m_notifier = std::make_unique<QSocketNotifier>(g_pipe[0], QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, [this] {
        char byte;
        if (::read(g_pipe[0], &byte, 1) == 1)
            Q_EMIT terminationRequested();
    });
    install(onSignal);
}

Signals::~Signals()
{
    install(SIG_DFL);
    m_notifier.reset();
    for (int& fd : g_pipe) {
        if (fd >= 0)
            ::close(fd);
        fd = -1;
    }
}

}
