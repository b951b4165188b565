// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/spooldisk.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <telltale/core/quietthread.h>
#include <telltale/spool/spooldiskshared.h>

namespace telltale::agent {
SpoolDisk::SpoolDisk(const std::filesystem::path& folder, std::uint64_t capBytes, std::shared_ptr<Disk> disk)
    : m_shared(std::make_shared<Shared>())
{
    m_shared->spool = std::make_unique<Spool>(folder, capBytes, disk ? std::move(disk) : std::make_shared<Disk>());
}

SpoolDisk::~SpoolDisk()
{
    m_home.handOver(); // whoever ends it is alone with it
    {
        const std::lock_guard lock(m_shared->mutex);
        if (!m_hasThread || m_shared->isUntouched())
            return;
        m_shared->isClosing = true;
    }
    request();
}

Spool& SpoolDisk::spool()
{
    return *m_shared->spool;
}

/// Wakes the thread, or does what was asked here.
void SpoolDisk::request()
{
    m_home.check();
    Shared::Lock lock(m_shared->mutex);
    if (m_shared->isEnded)
        return;
    if (!m_hasThread) {
        while (m_shared->turn(lock)) { }
        if (m_shared->isClosing)
            m_shared->finish(lock);
        return;
    }
    if (!m_shared->isRunning) {
        // Where no thread can be had now, the next request tries again: until then nothing leaves the memory.
        try {
            m_shared->isRunning = true;
            quietThread("telltale-disk", [shared = m_shared] { shared->run(); }).detach();
        } catch (const std::exception& error) {
            m_shared->isRunning = false;
            m_shared->fail([&] { return fmt::format("the spool gets no thread: {}", error.what()); });
        }
        return;
    }
    m_shared->came.notify_all();
}

void SpoolDisk::write(SpoolBatch batch)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->writes.push_back(std::move(batch));
    }
    request();
}

void SpoolDisk::read(std::vector<Spool::Kept> wanted)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->reads.insert(m_shared->reads.end(), wanted.begin(), wanted.end());
    }
    request();
}

void SpoolDisk::forgetUpTo(std::uint64_t seq)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->forgetTo = std::max(m_shared->forgetTo, seq);
        std::erase_if(m_shared->writes, [seq](const SpoolBatch& batch) { return batch.seq <= seq; });
        if (m_shared->isUntouched())
            return;
    }
    request();
}

SpoolDisk::Answers SpoolDisk::takeAnswers()
{
    m_home.check();
    const std::lock_guard lock(m_shared->mutex);
    return std::exchange(m_shared->answers, {});
}

std::uint64_t SpoolDisk::usedBytes() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->usedBytes;
}

double SpoolDisk::fill() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->fill;
}

bool SpoolDisk::isFailing() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->failures > 0;
}

std::chrono::milliseconds SpoolDisk::stuckFor() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->isInCall
        ? std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - m_shared->inCallSince)
        : std::chrono::milliseconds(0);
}

std::string SpoolDisk::takeTrouble()
{
    const std::lock_guard lock(m_shared->mutex);
    return std::exchange(m_shared->trouble, {});
}

void SpoolDisk::close(std::optional<Spool::Bye> bye)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->bye = std::move(bye);
        m_shared->isClosing = true;
        if (m_shared->isUntouched())
            return;
    }
    request();
}

bool SpoolDisk::waitClosed(Clock::time_point deadline)
{
    Shared::Lock lock(m_shared->mutex);
    if (!m_shared->isRunning)
        return true;
    if (m_shared->ended.wait_until(lock, deadline, [this] { return m_shared->isEnded; }))
        return true;
    m_shared->isAbandoned = true;
    m_shared->came.notify_all();
    return false;
}

std::vector<std::uint64_t> SpoolDisk::unwritten() const
{
    const std::lock_guard lock(m_shared->mutex);
    std::vector<std::uint64_t> seqs;
    for (const SpoolBatch& batch : m_shared->writes)
        seqs.push_back(batch.seq);
    return seqs;
}

}
