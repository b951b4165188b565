// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/pythonprocess.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace telltale::exchange {
namespace {

constexpr int kAskEveryMs = 100;
constexpr std::size_t kReadBytes = 256u << 10;
constexpr std::size_t kMostLine = 64u << 20;
constexpr const char* kFromElsewhere = "import sys; sys.path[:] = [path for path in sys.path if path]; ";

/// 0, or an errno.
int startProgram(std::vector<std::string>& words, const posix_spawn_file_actions_t* actions,
    const posix_spawnattr_t* attributes, pid_t& child)
{
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    return ::posix_spawnp(&child, argv.front(), actions, attributes, argv.data(), environ);
}

/// Nothing: somebody else has waited for it.
std::optional<int> statusOf(pid_t child)
{
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return {};
    }
    return status;
}

}

std::optional<int> exitCodeOf(std::vector<std::string> words)
{
    pid_t child = 0;
    if (const int error = startProgram(words, nullptr, nullptr, child); error != 0) {
        errno = error;
        return {};
    }
    const auto status = statusOf(child);
    return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 1;
}

Expected<std::string> pythonWithArrow(const std::string& what)
{
    const char* named = std::getenv("TELLTALE_PYTHON");
    std::string python = named && *named ? named : "python3";
    const auto lacksPackages = exitCodeOf({ python, "-c",
        std::string(kFromElsewhere)
            + "import importlib.util; sys.exit(any(importlib.util.find_spec(name) is None for name in ('telltale', "
              "'pyarrow')))" });
    if (!lacksPackages)
        return failure(ErrorCode::NotFound, fmt::format("cannot start {}: {}", python, std::strerror(errno)),
            what + " by Python; TELLTALE_PYTHON names another one");
    if (*lacksPackages != 0)
        return failure(ErrorCode::NotFound,
            fmt::format("{} by the Python packages telltale and pyarrow, which {} does not have", what, python),
            "install them there, or name another Python in TELLTALE_PYTHON");
    return python;
}

std::vector<std::string> packageCall(const std::string& python)
{
    return { python, "-c",
        std::string(kFromElsewhere) + "from telltale.__main__ import main; sys.exit(main(sys.argv[1:]))" };
}

Expected<ProgramOutput> ProgramOutput::start(std::vector<std::string> words, GoOn goOn)
{
    std::array<int, 2> pipe {};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        return failure(ErrorCode::Io, fmt::format("cannot start {}: {}", words.front(), std::strerror(errno)));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); // Ctrl+C is for this program, which ends it
    pid_t child = 0;
    const int error = startProgram(words, &actions, &attributes, child);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    ProgramOutput output(error == 0 ? child : 0, pipe[0], std::move(goOn));
    if (error != 0)
        return failure(ErrorCode::Io, fmt::format("cannot start {}: {}", words.front(), std::strerror(error)));
    return output;
}

ProgramOutput::ProgramOutput(ProgramOutput&& other) noexcept
    : m_goOn(std::move(other.m_goOn))
    , m_child(std::exchange(other.m_child, 0))
    , m_fd(std::exchange(other.m_fd, -1))
    , m_read(std::move(other.m_read))
    , m_at(other.m_at)
{
}

ProgramOutput::~ProgramOutput()
{
    if (m_fd >= 0)
        ::close(m_fd);
    if (m_child <= 0)
        return;
    ::kill(m_child, SIGKILL); // it writes nothing but this output
    statusOf(m_child);
}

Expected<bool> ProgramOutput::fill()
{
    for (;;) {
        pollfd waited { m_fd, POLLIN, 0 };
        const int ready = ::poll(&waited, 1, kAskEveryMs);
        if (auto on = m_goOn(); !on)
            return tl::unexpected<Error>(std::move(on.error()));
        if (ready <= 0)
            continue;
        m_read.erase(0, std::exchange(m_at, 0));
        const std::size_t before = m_read.size();
        m_read.resize(before + kReadBytes);
        const ssize_t got = ::read(m_fd, m_read.data() + before, kReadBytes);
        m_read.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got >= 0 || errno != EINTR)
            return got > 0;
    }
}

Expected<std::optional<std::string>> ProgramOutput::line()
{
    for (std::size_t looked = 0;;) {
        const std::size_t end = m_read.find('\n', m_at + looked);
        if (end != std::string::npos) {
            std::string text = m_read.substr(m_at, end - m_at);
            m_at = end + 1;
            return std::optional(std::move(text));
        }
        looked = m_read.size() - m_at;
        const auto more = looked > kMostLine ? Expected<bool>(false) : fill();
        if (!more)
            return tl::unexpected<Error>(more.error());
        if (!*more)
            return std::optional<std::string>();
    }
}

Expected<std::optional<std::string_view>> ProgramOutput::bytes(std::size_t count)
{
    while (m_read.size() - m_at < count) {
        const auto more = fill();
        if (!more)
            return tl::unexpected<Error>(more.error());
        if (!*more)
            return std::optional<std::string_view>();
    }
    const std::string_view found = std::string_view(m_read).substr(m_at, count);
    m_at += count;
    return std::optional(found);
}

std::string ProgramOutput::end()
{
    ::close(std::exchange(m_fd, -1));
    const auto status = statusOf(std::exchange(m_child, 0));
    if (status && WIFSIGNALED(*status))
        return fmt::format("signal {}", WTERMSIG(*status));
    return fmt::format("exit code {}", status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1);
}

}
