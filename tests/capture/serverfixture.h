// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <QTemporaryDir>

#include <telltale/protocol/joinstring.h>
#include <telltale/server/captureserver.h>

#include "serverfakestore.h"
#include "serverpeer.h"

namespace telltale::test {

/// The log lines of a server. Thread: any (locked).
class LogLines {
public:
    void add(const std::string& line)
    {
        const std::lock_guard lock(m_mutex);
        m_lines.push_back(line);
    }
    std::vector<std::string> all() const
    {
        const std::lock_guard lock(m_mutex);
        return m_lines;
    }
    /// Lines with `part` in them.
    int count(const std::string& part = {}) const
    {
        const auto lines = all();
        return static_cast<int>(std::count_if(
            lines.begin(), lines.end(), [&](const auto& line) { return line.find(part) != std::string::npos; }));
    }

private:
    mutable std::mutex m_mutex;
    std::vector<std::string> m_lines;
};

/// A server on a free loopback port over a fake disk that outlives it.
struct ServerFixture {
    QTemporaryDir dir;
    std::shared_ptr<FakeDisk> disk = std::make_shared<FakeDisk>();
    std::shared_ptr<LogLines> log = std::make_shared<LogLines>();
    std::unique_ptr<server::CaptureServer> server;
    protocol::JoinString join;
    server::ServerLimits limits;

    Expected<void> start(const std::string& listen = "127.0.0.1:0")
    {
        server::ServerOptions options;
        options.listen = listen;
        options.dataDir = dir.path().toStdString();
        options.limits = limits;
        options.log = [lines = log](const std::string& line) { lines->add(line); };
        auto started = server::CaptureServer::start(options, std::make_unique<FakeSink>(disk));
        if (!started)
            return tl::unexpected(started.error());
        server = std::move(*started);
        auto parsed = protocol::JoinString::parse(server->joinString().toStdString());
        if (!parsed)
            return tl::unexpected(parsed.error());
        join = *parsed;
        return {};
    }
};

}
