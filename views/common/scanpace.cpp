// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/common/scanpace.h>

#include <algorithm>

#include <telltale/items/guithread.h>

namespace telltale::views {
namespace {

constexpr qint64 kRest = 20;
constexpr qint64 kGatherMs = 50; ///< what comes together asks once

}

ScanPace::ScanPace(int leastMs, QObject* parent)
    : QTimer(parent)
    , m_leastMs(leastMs)
{
    setSingleShot(true);
}

void ScanPace::soon()
{
    items::assertGuiThread();
    if (isActive())
        return;
    const qint64 every = std::max<qint64>(m_leastMs, kRest * m_took);
    const qint64 since = m_since.isValid() ? m_since.elapsed() : every;
    start(static_cast<int>(std::max(every - since, kGatherMs)));
}

void ScanPace::now()
{
    items::assertGuiThread();
    m_took = 0;
    stop();
    soon();
}

}
