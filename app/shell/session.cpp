// SPDX-License-Identifier: GPL-3.0-or-later
#include "session.h"

#include <algorithm>
#include <array>
#include <string>

#include <telltale/common/rowlist.h>
#include <telltale/core/protocolone.h>
#include <telltale/runs/runspanel.h>

namespace telltale::shell {

namespace {

using GroupBy = items::RunsModel::GroupBy;
constexpr std::array<const char*, 3> kGroupings { "folder", "name", "tag" };
static_assert(kGroupings.size() == static_cast<std::size_t>(GroupBy::Tag) + 1);

}

void storeState(const views::ViewState& state, settings::Settings& settings)
{
    settings.runPath = state.run() ? QString::fromStdString(state.run()->locator.text()) : QString();
    settings.kind = QString::fromUtf8(kindName(state.kind()));
    settings.stat = QString::fromUtf8(statName(state.stat()));
    settings.rank = state.rank().value;
    settings.moduleFilter = state.moduleFilter();
    settings.cursor = state.cursor() ? QString::number(state.cursor()->value) : QString();
    settings.comparedRuns.clear();
    for (const views::ComparedRun& one : state.comparedRuns())
        settings.comparedRuns.append(QString::fromStdString(one.run->locator.text()));
    settings.selection.clear();
    for (const views::ModuleKey& key : state.selection())
        settings.selection.append(key.slot.hasText() ? key.name + u'\t' + key.slotText() : key.name);
}

void restoreState(const settings::Settings& settings, views::ViewState& state)
{
    // The run is as it is now: what it no longer has would leave its views empty.
    const store::Catalog& catalog = *state.catalog();
    const auto has = [](const auto& all, auto one) { return std::find(all.begin(), all.end(), one) != all.end(); };
    const auto kind = kindFromName(settings.kind.toStdString());
    if (kind && *kind != Kind::Scalar && has(views::kindsOf(catalog), *kind))
        state.setKind(*kind);
    const auto stat = statFromName(settings.stat.toStdString());
    if (stat && has(views::statsOf(catalog, state.kind()), *stat))
        state.setStat(*stat);
    if (has(views::ranksOf(catalog, state.kind()), Rank { settings.rank }))
        state.setRank(Rank { settings.rank });
    state.setModuleFilter(settings.moduleFilter);
    std::vector<views::ModuleKey> keys;
    for (const QString& entry : settings.selection)
        keys.push_back({ entry.section(u'\t', 0, 0), protocolone::slotOf(entry.section(u'\t', 1, 1).toStdString()) });
    state.setSelection(std::move(keys));
    bool isStep = false;
    const Step step { settings.cursor.toLongLong(&isStep) };
    if (isStep && catalog.steps.contains(step))
        state.setCursor(step);
}

void storeList(const items::RunsModel& model, const views::RunsPanel& panel, settings::Settings& settings)
{
    settings.runsGroupedBy = QLatin1String(kGroupings.at(static_cast<std::size_t>(model.groupBy())));
    settings.closedHeadings = panel.closedHeadings();
}

void restoreList(const settings::Settings& settings, items::RunsModel& model, views::RunsPanel& panel)
{
    panel.setClosedHeadings(settings.closedHeadings);
    for (std::size_t i = 0; i < kGroupings.size(); ++i) {
        if (settings.runsGroupedBy == QLatin1String(kGroupings.at(i)))
            model.setGroupBy(static_cast<GroupBy>(i));
    }
}

}
