// SPDX-License-Identifier: GPL-3.0-or-later
#include "log.h"

#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <telltale/core/plaintext.h>
#include <telltale/core/privatefiles.h>
#include <telltale/core/repeatgate.h>

namespace telltale::app {
namespace {

using Level = spdlog::level::level_enum;
static_assert(static_cast<int>(LogLevel::Debug) == Level::debug && static_cast<int>(LogLevel::Error) == Level::err);
constexpr std::size_t kMaxSentence = 4096;

/// spdlog's own rotating file is readable by others, is handed on to child processes, and ends the program when it
/// cannot be opened anew.
class BoundedFile : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit BoundedFile(std::string path)
        : m_path(std::move(path))
    {
    }
    ~BoundedFile() override { ::close(m_fd); }
    BoundedFile(const BoundedFile&) = delete;
    BoundedFile& operator=(const BoundedFile&) = delete;

    Expected<void> open()
    {
        // Without O_NONBLOCK a pipe that nobody reads would stop us here.
        const int fd = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
        if (fd < 0)
            return fileError("write the log file", m_path);
        struct stat info { };
        if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
            ::close(fd);
            return failure(ErrorCode::BadInput, "the log file '" + m_path + "' is no plain file");
        }
        keepPrivate(m_path);
        ::close(std::exchange(m_fd, fd));
        m_size = static_cast<std::size_t>(info.st_size);
        return {};
    }

private:
    void sink_it_(const spdlog::details::log_msg& message) override
    {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        // Where it cannot be renamed or opened anew, this one is written on, and it is tried again as much later.
        if (m_size != 0 && m_size + line.size() > Log::kMaxFileBytes
            && (::rename(m_path.c_str(), (m_path + ".1").c_str()) != 0 || !open()))
            m_size = 0;
        m_size += line.size();
        errno = ENOSPC; // a line of which a part is written sets none
        if (::write(m_fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
            throw spdlog::spdlog_ex(fileError("write", m_path).value().what);
    }
    void flush_() override { }

    std::string m_path;
    int m_fd = -1;
    std::size_t m_size = 0;
};

// Qt hands its messages to a function, without an object: what that one writes to must be reachable without one.
std::mutex g_mutex; ///< also for all that the log consists of
Log::State* g_log = nullptr;

}

struct Log::State {
    spdlog::logger logger { "telltale" };
    std::shared_ptr<BoundedFile> file; ///< null: none
    std::map<Level, RepeatGate> gates;
    bool isFileBroken = false;

    void put(Level level, const std::string& text) { logger.log(level, spdlog::string_view_t(text)); }
    void putCrowded(Level level, RepeatGate& gate)
    {
        if (const auto left = gate.takeCrowded(); left > 0)
            put(level, countText(left, "other sentence is", "other sentences are") + " left out");
    }
    void write(Level level, const std::string& text)
    {
        if (!logger.should_log(level))
            return;
        RepeatGate& gate = gates.try_emplace(level, std::chrono::minutes(1)).first->second;
        if (const auto held = gate.pass(text, RepeatGate::Clock::now())) {
            put(level, text + moreText(*held));
            putCrowded(level, gate);
        }
    }
};

std::vector<Flag> Log::flags()
{
    return { { "--log-level", "L",
                 "what is said on standard error: debug, info, warning, error or off (default info)" },
        { "--log-file", "FILE", "where it is kept as well" } };
}

Expected<std::unique_ptr<Log>> Log::open(const Args& args)
{
    const std::string word = args.value("--log-level").value_or("info");
    const Level level = spdlog::level::from_str(word);
    if (level == Level::off && word != "off")
        return failure(
            ErrorCode::BadInput, "--log-level '" + word + "' is not a level", "say debug, info, warning, error or off");
    auto state = std::make_unique<State>();
    state->logger.set_level(level);
    auto console = std::make_shared<spdlog::sinks::stderr_sink_st>();
    console->set_pattern("telltale: %v");
    state->logger.sinks().push_back(std::move(console));
    if (const auto path = args.value("--log-file")) {
        state->file = std::make_shared<BoundedFile>(*path);
        if (auto opened = state->file->open(); !opened)
            return tl::unexpected(std::move(opened.error()));
        state->file->set_formatter(std::make_unique<spdlog::pattern_formatter>(
            "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v", spdlog::pattern_time_type::utc));
        state->logger.sinks().push_back(state->file);
    }
    state->logger.set_error_handler([raw = state.get()](const std::string& what) {
        if (!std::exchange(raw->isFileBroken, true))
            std::fputs(("telltale: " + terminalText(what) + "\n").c_str(), stderr);
    });
    const std::lock_guard lock(g_mutex);
    g_log = state.get();
    return std::unique_ptr<Log>(new Log(std::move(state)));
}

Log::Log(std::unique_ptr<State> state)
    : m_state(std::move(state))
{
}

Log::~Log()
{
    const std::lock_guard lock(g_mutex);
    g_log = nullptr;
    for (auto& [level, gate] : m_state->gates) {
        gate.drain([this, level = level](
                       const std::string& text, std::uint64_t held) { m_state->put(level, text + moreText(held)); });
        m_state->putCrowded(level, gate);
    }
}

void writeLog(LogLevel level, std::string_view sentence)
{
    const std::string text = terminalText(sentence.substr(0, kMaxSentence));
    const std::lock_guard lock(g_mutex);
    if (g_log != nullptr)
        g_log->write(static_cast<Level>(level), text);
    else
        std::fputs(("telltale: " + text + "\n").c_str(), stderr);
}

void noteInLogFile(std::string_view sentence)
{
    const std::lock_guard lock(g_mutex);
    if (g_log == nullptr || !g_log->file || !g_log->logger.should_log(Level::err))
        return;
    const std::string text = terminalText(sentence.substr(0, kMaxSentence));
    try {
        g_log->file->log({ g_log->logger.name(), Level::err, text });
    } catch (const spdlog::spdlog_ex&) {
        return; // the error itself is on standard error
    }
}

}
