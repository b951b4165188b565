// SPDX-License-Identifier: GPL-3.0-or-later
#include "monitoringcost.h"

#include <algorithm>

#include <telltale/common/costtext.h>
#include <telltale/items/comma.h>

namespace telltale::shell {

MonitoringCost::MonitoringCost(const std::vector<ConnectionInfo>& connections, const std::string& runKey)
{
    for (const ConnectionInfo& connection : connections) {
        if (!connection.connected || connection.runKey != runKey)
            continue;
        if (connection.collectedEvery > m_scarcest.collectedEvery)
            m_scarcest = connection;
        if (connection.stepMs <= 0) {
            m_silent.push_back(connection.rank);
        } else if (!isKnown() || connection.monitorMs * m_stepMs > m_monitorMs * connection.stepMs) {
            m_monitorMs = connection.monitorMs;
            m_stepMs = connection.stepMs;
            m_rank = connection.rank;
            m_every = connection.collectedEvery;
        }
    }
    std::sort(m_silent.begin(), m_silent.end());
}

QString MonitoringCost::text() const
{
    return tr("%1 of %2 (%3)")
        .arg(views::formatMilliseconds(m_monitorMs), views::formatMilliseconds(m_stepMs), views::formatShare(share()));
}

QString MonitoringCost::explanation() const
{
    QString out = tr("Rank %1: of a step, monitoring takes %2, over the last seconds and by the host's clock. No other "
                     "rank that reports it gives it a larger share.")
                      .arg(m_rank.value)
                      .arg(text());
    if (m_scarcest.collectedEvery > 0)
        out += u'\n'
            + tr("Rank %1 collects %2, to stay within %3.", "every 4th step, 2 %")
                  .arg(m_scarcest.rank.value)
                  .arg(views::formatEvery(m_scarcest.collectedEvery), views::formatPercent(m_scarcest.overheadBudget));
    if (m_silent.empty())
        return out;
    constexpr std::size_t kMostNamed = 6;
    QStringList named;
    for (std::size_t i = 0; i < std::min(m_silent.size(), kMostNamed); ++i)
        named.append(QString::number(m_silent[i].value));
    if (m_silent.size() > kMostNamed)
        named.append(QStringLiteral("\u2026"));
    return out + u'\n'
        + tr("%n rank(s) do not report it (%1): their agent is older, or has only just begun.", nullptr,
            static_cast<int>(m_silent.size()))
              .arg(named.join(items::comma()));
}

}
