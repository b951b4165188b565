// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <QCoreApplication>
#include <QString>

#include <telltale/core/connectioninfo.h>

namespace telltale::shell {

/// What monitoring takes of the time of a run's training, where it takes most. Thread: any (a value).
class MonitoringCost {
    Q_DECLARE_TR_FUNCTIONS(telltale::shell::MonitoringCost)
public:
    MonitoringCost() = default;
    /// connections: of the whole capture.
    MonitoringCost(const std::vector<ConnectionInfo>& connections, const std::string& runKey);

    bool isKnown() const { return m_stepMs > 0; }
    double monitorMs() const { return m_monitorMs; }
    double stepMs() const { return m_stepMs; }
    double share() const { return isKnown() ? m_monitorMs / m_stepMs : 0; }
    Rank rank() const { return m_rank; }
    std::int64_t every() const
    {
        return m_every;
    } ///< there, one in so many steps is collected; 0 = as the config has it
    QString text() const; ///< "0.9 ms of 186 ms (0.5 %)"
    QString explanation() const;

private:
    double m_monitorMs = 0; ///< a step
    double m_stepMs = 0; ///< 0 = not known
    Rank m_rank;
    std::int64_t m_every = 0;
    ConnectionInfo m_scarcest; ///< that collects fewest to stay within its budget
    std::vector<Rank> m_silent; ///< of which nothing is known
};

}
