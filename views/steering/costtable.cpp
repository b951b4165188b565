// SPDX-License-Identifier: GPL-3.0-or-later
#include "costtable.h"

#include <QGridLayout>

#include <telltale/common/costtext.h>
#include <telltale/common/theme.h>
#include <telltale/runs/rolelabel.h>

#include "configdraft.h"

namespace telltale::views {

CostTable::CostTable(QWidget* parent)
    : QWidget(parent)
    , m_budget(new RoleLabel(&Theme::text3, wordsFont(11), this))
{
    setObjectName(QStringLiteral("configCost"));
    setToolTip(
        tr("An estimate, by the run's model and what was measured of it in the last seconds; time is of the rank "
           "where monitoring takes most"));
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(12, 4, 12, 8);
    grid->setHorizontalSpacing(0); // of a column that is hidden it would stay
    grid->setVerticalSpacing(4);
    const auto addLine = [&](int row, const QString& name, const QFont& font) {
        Line line { new RoleLabel(name, &Theme::text2, wordsFont(12), this),
            (new RoleLabel(&Theme::text2, font, this))->asData(), (new RoleLabel(&Theme::text, font, this))->asData() };
        line.now->setContentsMargins(16, 0, 0, 0);
        line.draft->setContentsMargins(16, 0, 0, 0);
        grid->addWidget(line.name, row, 0);
        grid->addWidget(line.now, row, 1, Qt::AlignRight);
        grid->addWidget(line.draft, row, 2, Qt::AlignRight);
        return line;
    };
    m_head = addLine(0, {}, wordsFont(11));
    m_head.draft->setText(tr("draft"));
    m_head.draft->setColor(&Theme::text2);
    const QString names[] { tr("Series"), tr("Samples a collected step"), tr("Stored, not yet compacted"),
        tr("Step time") };
    for (int row = 0; row < RowCount; ++row)
        m_lines.at(static_cast<std::size_t>(row)) = addLine(row + 1, names[row], numberFont(12));
    m_budget->setWordWrap(true);
    grid->addWidget(m_budget, RowCount + 1, 0, 1, 3);
    grid->setColumnStretch(0, 1);
}

CostTable::Texts CostTable::textsOf(const config::CostEstimate& estimate, const RunRates& rates)
{
    Texts texts;
    const QString count = formatStep(static_cast<qint64>(std::min(estimate.series, 1e15)));
    texts[SeriesRow] = estimate.isWhole ? count : tr("at least %1").arg(count);
    texts[SamplesRow] = formatShort(estimate.samples);
    if (estimate.bytesPerSecond)
        texts[StoredRow] = tr("%1/s").arg(formatBytes(static_cast<quint64>(*estimate.bytesPerSecond)));
    if (estimate.addedMs)
        texts[TimeRow] = formatShare(std::max(0.0, (rates.monitorMs + *estimate.addedMs) / rates.stepMs));
    return texts;
}

bool CostTable::set(const ConfigDraft& draft, const RunRates& rates, bool isRunningKnown, bool isLive, bool isIdle)
{
    const config::MonitorConfig& running = draft.running();
    auto wanted = config::estimateCost(draft.config(), running, draft.run(), rates);
    auto now = config::estimateCost(running, running, draft.run(), rates);
    if (!wanted || !now)
        return false;
    if (isIdle) {
        now = config::CostEstimate {};
        if (!draft.config().dynamicOn)
            wanted = now;
    }
    const bool isBroken = draft.errors() > 0 && !draft.isUnchanged(); // what it would cost is not what is read of it
    const bool isChange = !isBroken && !draft.changes().empty();
    const Texts before = isRunningKnown ? textsOf(*now, rates) : Texts {};
    const Texts after = isChange ? textsOf(*wanted, rates) : Texts {};
    m_head.now->setText(isLive ? tr("now") : tr("last"));
    m_head.now->setVisible(isRunningKnown);
    m_head.draft->setVisible(isChange);
    for (std::size_t row = 0; row < RowCount; ++row) {
        Line& line = m_lines.at(row);
        const bool isShown = !before.at(row).isEmpty() || !after.at(row).isEmpty();
        line.now->setText(before.at(row));
        line.draft->setText(after.at(row));
        line.draft->setFont(numberFont(12, before.at(row) == after.at(row) ? 400 : 600));
        for (RoleLabel* label : { line.name, line.now, line.draft })
            label->setVisible(isShown && (label != line.draft || isChange));
    }
    const double budget = running.overheadBudget;
    const bool isOver = isChange && wanted->everyWithin > 0;
    m_budget->setColor(isOver ? &Theme::warnText : &Theme::text3);
    m_budget->setText(isBroken ? tr("Fix the draft to see what it costs.")
            : isOver           ? tr("Over the budget of %1: the agent will collect %2.")
                           .arg(formatPercent(budget), formatEvery(wanted->everyWithin))
            : isChange && budget > 0 && wanted->addedMs
            ? tr("The draft stays inside the budget of %1 of step time.").arg(formatPercent(budget))
            : QString());
    m_budget->setVisible(!m_budget->text().isEmpty());
    return true;
}

}
