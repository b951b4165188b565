// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QWidget>

#include <telltale/config/costestimate.h>

namespace telltale::views {

class ConfigDraft;
class RoleLabel;

/// What a config costs now and what its draft would: series, samples, what is stored, the time of a step. What is not
/// known is left out.
class CostTable : public QWidget {
    Q_OBJECT
public:
    explicit CostTable(QWidget* parent = nullptr);

    /// `isRunningKnown`: somebody has said what runs, or ran last where the run is not live. `isIdle`: its ranks have
    /// said that nothing is collected. False: there is nothing to tell while the run's model is not known.
    bool set(const ConfigDraft& draft, const RunRates& rates, bool isRunningKnown, bool isLive, bool isIdle);

private:
    enum Row { SeriesRow, SamplesRow, StoredRow, TimeRow, RowCount };
    struct Line {
        RoleLabel* name = nullptr;
        RoleLabel* now = nullptr;
        RoleLabel* draft = nullptr;
    };
    using Texts = std::array<QString, RowCount>;

    static Texts textsOf(const config::CostEstimate& estimate, const RunRates& rates);

    Line m_head;
    std::array<Line, RowCount> m_lines;
    RoleLabel* m_budget;
};

}
