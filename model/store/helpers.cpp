// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/helpers.h>

#include <algorithm>

#include <telltale/core/nothrow.h>
#include <telltale/core/quietthread.h>

namespace telltale::store {

/// While it lives, helpers come for the work; its end waits for those that did.
class Helpers::Shift {
public:
    Shift(Helpers& helpers, std::size_t most, const std::function<void()>& work)
        : m_helpers(helpers)
    {
        const std::lock_guard lock(helpers.m_mutex);
        if (helpers.m_work)
            return;
        m_isOn = true;
        most = std::min(most, kMost);
        withoutThrowing([&] { // without a thread to be had there are fewer
            while (helpers.m_threads.size() < most)
                helpers.m_threads.push_back(quietThread("telltale-helper", [&helpers] { helpers.help(); }));
        });
        helpers.m_work = &work;
        helpers.m_wanted = most;
        for (std::size_t i = 0; i < most; ++i)
            helpers.m_came.notify_one();
    }
    Shift(const Shift&) = delete;
    Shift& operator=(const Shift&) = delete;
    ~Shift()
    {
        if (!m_isOn)
            return;
        std::unique_lock lock(m_helpers.m_mutex);
        m_helpers.m_wanted = 0;
        m_helpers.m_left.wait(lock, [this] { return m_helpers.m_working == 0; });
        m_helpers.m_work = nullptr;
    }

private:
    Helpers& m_helpers;
    bool m_isOn = false;
};

Helpers::~Helpers()
{
    {
        const std::lock_guard lock(m_mutex);
        m_isEnding = true;
    }
    m_came.notify_all();
    for (std::thread& thread : m_threads)
        thread.join();
}

void Helpers::run(std::size_t most, const std::function<void()>& work)
{
    const Shift shift(*this, most, work);
    work();
}

void Helpers::help()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_came.wait(lock, [this] { return m_isEnding || m_wanted > 0; });
        if (m_isEnding)
            return;
        --m_wanted;
        ++m_working;
        const std::function<void()>& work = *m_work;
        lock.unlock();
        withoutThrowing([&work] { work(); });
        lock.lock();
        if (--m_working == 0)
            m_left.notify_all();
    }
}

}
