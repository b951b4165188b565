// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/leftovers.h>

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include <telltale/protocol/codec.h>
#include <telltale/protocol/payloadbuilder.h>

namespace fs = std::filesystem;

namespace telltale::agent {
namespace {

constexpr std::chrono::seconds kIntroductionTime { 2 };

/// The stream as its process left it; holes are filled with batches that say so. Null when there is nothing to deliver.
std::unique_ptr<Stream> restore(const fs::path& folder, std::uint64_t capBytes, LastError& lastError)
{
    auto stream = std::make_unique<Stream>(protocol::Hello {}, folder, capBytes);
    auto recovered = stream->spool.recover();
    if (!recovered)
        return nullptr;
    for (const std::string& damage : recovered->damages)
        lastError.set(damage);
    const auto message = protocol::decodeMessage(recovered->hello);
    const auto* hello = message ? std::get_if<protocol::Hello>(&*message) : nullptr;
    if (!hello || recovered->records.empty()) {
        stream->spool.forgetUpTo(0);
        stream->spool.removeIfEmpty();
        return nullptr;
    }
    stream->hello = *hello;
    stream->layouts = std::move(recovered->layouts);
    const auto now = HeldStore::Clock::now();
    const auto addLost = [&](std::uint64_t seq, const std::string& why) {
        std::string payload = lostBatchPayload(why);
        const std::size_t bytes = payload.size();
        if (stream->held.add(seq, payload, { 0, 0, std::make_shared<const std::vector<LayoutId>>() }, now))
            stream->rules.onProduced(seq, bytes);
    };
    std::uint64_t next = recovered->records.front().seq;
    for (const Spool::Recovered::Record& record : recovered->records) {
        for (; next < record.seq; ++next)
            addLost(next, "the spool is damaged");
        stream->held.addSpooled(record.seq, record.place);
        stream->rules.onProduced(record.seq, record.place.bytes);
        ++next;
    }
    if (!recovered->damages.empty())
        addLost(next, recovered->damages.front());
    return stream;
}

}

std::string lostBatchPayload(const std::string& why)
{
    protocol::PayloadBuilder builder;
    Event event;
    event.kind = "gap";
    event.wallNs = clocksNow().wallNs;
    event.text = fmt::format("a batch is lost: {}", why);
    builder.addEvent(event);
    builder.setStepComplete(true);
    return builder.finish();
}

Leftovers::Leftovers(boost::asio::io_context& context, protocol::JoinString join, const fs::path& runFolder,
    std::uint64_t capBytes, LastError& lastError)
    : m_context(context)
    , m_join(std::move(join))
    , m_capBytes(capBytes)
    , m_lastError(lastError)
{
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(runFolder, error))
        if (entry.is_directory(error))
            m_folders.push_back(entry.path());
    // The oldest first, so that attempts are numbered in the order in which they ran.
    const auto age = [](const fs::path& path) {
        std::error_code ignored;
        return fs::last_write_time(path, ignored);
    };
    std::sort(m_folders.begin(), m_folders.end(), [&](const auto& a, const auto& b) { return age(a) < age(b); });
    openNext();
}

Leftovers::~Leftovers() = default;

bool Leftovers::openNext()
{
    while (!m_stream && !m_folders.empty()) {
        const fs::path folder = m_folders.front();
        m_folders.pop_front();
        m_stream = restore(folder, m_capBytes, m_lastError);
    }
    if (!m_stream)
        return false;
    Session::Events events;
    events.replaceDamaged = [](std::uint64_t, const std::string& why) { return lostBatchPayload(why); };
    m_session = std::make_unique<Session>(m_context, m_join, *m_stream, nullptr, m_lastError, std::move(events));
    return true;
}

void Leftovers::tick(Clock::time_point now)
{
    if (!m_session)
        return;
    m_session->tick(now);
    if (!m_stream->held.isEmpty())
        return;
    m_session->sayBye("restarting");
    m_session.reset();
    m_stream->spool.removeIfEmpty();
    m_stream.reset();
    openNext();
}

bool Leftovers::isIntroduced(Clock::time_point now) const
{
    return isDone() || (m_folders.empty() && m_session->wasEverOpen()) || now - m_started > kIntroductionTime;
}

}
