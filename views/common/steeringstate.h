// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QObject>
#include <QString>
#include <QStringList>

#include <telltale/core/runrates.h>
#include <telltale/core/steering.h>

namespace telltale::views {

/// How the runs that this program records are steered, as their ranks report it, and the way to steer them.
/// Thread: gui.
class SteeringState : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Hands a request to the capture server; set by who makes the window. Empty: this program records nothing.
    std::function<void(const ConfigRequest&)> offer;

    void set(std::vector<RunSteering> runs);
    /// Null for a run that nobody streams into.
    const RunSteering* of(const std::string& runId) const;

    /// The runs that the user has selected; what steers several at once is about them.
    void choose(const QStringList& runIds);
    /// Those of them that are streamed into.
    std::vector<const RunSteering*> chosen() const;

    /// Has what `other` has from here on, and steers nothing.
    void mirror(const SteeringState* other);
    bool isMirror() const { return m_isMirror; }

    /// What was measured lately of the run that is shown.
    void setRates(const RunRates& rates);
    const RunRates& rates() const { return m_rates; }

    /// Why the config that somebody is writing cannot be applied now; empty when it can.
    void setWhyNoApply(const QString& why);
    const QString& whyNoApply() const { return m_whyNoApply; }

Q_SIGNALS:
    void changed();
    void ratesChanged();
    void whyNoApplyChanged();
    /// Somebody wants a field of the config to be so, as JSON; of "/targets" it is what comes to those that are there.
    void draftWanted(const QString& pointer, const QString& value);

private:
    std::vector<RunSteering> m_runs;
    QStringList m_chosen;
    RunRates m_rates;
    QString m_whyNoApply;
    bool m_isMirror = false;
};

}
