// SPDX-License-Identifier: GPL-3.0-or-later
#include "palettesearch.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <QAction>
#include <QCoreApplication>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/items/shownname.h>
#include <telltale/runs/allkinds.h>
#include <telltale/runs/modulespanel.h>
#include <telltale/store/rowsof.h>

#include "commandregistry.h"
#include "dockhost.h"
#include "keychip.h"
#include "layouts.h"
#include "panels.h"
#include "rundriver.h"
#include "viewfactory.h"
#include "viewtabs.h"

namespace telltale::shell {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(telltale::shell::PaletteSearch)
};

/// What a command brings: a view, a panel, a layout; or that it does something, and its key.
QString detailOf(const CommandRegistry::Entry& entry)
{
    const QString id = QString::fromLatin1(entry.command.id);
    const bool isView = id.startsWith(QLatin1String("view.")) && findView(id.mid(5)) != nullptr;
    const auto panels = panelFactories();
    const bool isPanel = std::any_of(panels.begin(), panels.end(),
        [&id](const PanelFactory& panel) { return id == QLatin1String("window.") + QLatin1String(panel.id); });
    const QString kind = isView                   ? Words::tr("view")
        : isPanel                                 ? Words::tr("panel")
        : id.startsWith(QLatin1String("layout.")) ? Words::tr("layout")
                                                  : Words::tr("command");
    const QString key = KeyChip::textOf(entry.command.shortcut);
    return key.isEmpty() ? kind : kind + QStringLiteral(" \u00b7 ") + key;
}

/// What the tree has under this name.
QString wordOf(const store::Catalog& catalog, const QString& path)
{
    const auto rows = store::rowsOf(catalog).named(path.toStdString());
    const auto has = [&rows](auto isOf) {
        return std::any_of(rows.begin(), rows.end(), [&isOf](const auto* row) { return isOf(row->kind); });
    };
    return has([](Kind kind) { return views::isOfParameters(kind); }) ? Words::tr("parameter")
        : has([](Kind kind) { return kind == Kind::Comm; })           ? Words::tr("collective")
                                                                      : Words::tr("module");
}

/// What the training logged, in the run's order, each once.
std::vector<views::ModuleKey> scalarsOf(const store::Catalog& catalog)
{
    std::vector<views::ModuleKey> scalars;
    std::set<std::string_view> known;
    for (const store::SeriesInfo& series : catalog.series) {
        if (series.kind == Kind::Scalar && known.insert(series.desc->name).second)
            scalars.push_back({ QString::fromStdString(series.desc->name), series.desc->slot });
    }
    return scalars;
}

/// What is called as it was typed comes before what has it in its name.
std::vector<CommandPalette::Entry> exactFirst(std::vector<CommandPalette::Entry> entries, const QString& text)
{
    std::stable_partition(entries.begin(), entries.end(),
        [&text](const CommandPalette::Entry& entry) { return entry.text.compare(text, Qt::CaseInsensitive) == 0; });
    return entries;
}

}

std::vector<CommandPalette::Entry> searchPalette(const WindowParts& parts, const QString& text, int limit)
{
    std::vector<CommandPalette::Entry> entries;
    // "30", "step 30", and the same word in the window's own language.
    bool isNumber = false;
    QString digits = text;
    for (const QString& word : { QStringLiteral("step"), Words::tr("step") }) {
        if (digits.startsWith(word, Qt::CaseInsensitive))
            digits = digits.mid(word.size());
    }
    const qint64 step = digits.remove(QChar(0x202F)).remove(u' ').toLongLong(&isNumber);
    views::ViewState* state = parts.views.state;
    if (isNumber && state->fullRange().contains(Step { step }))
        entries.push_back({ Words::tr("Step %1").arg(views::formatStep(step)), Words::tr("step"),
            [state, step] { state->goTo(Step { step }); }, false });
    for (const CommandRegistry::Entry& entry : parts.commands->all()) {
        if (!entry.action || !entry.action->isEnabled())
            continue;
        if (const QString words = entry.words(); text.isEmpty() || words.contains(text, Qt::CaseInsensitive))
            entries.push_back({ words, detailOf(entry), [action = entry.action] { action->trigger(); }, false });
    }
    for (const auto& [words, choose] : parts.choices) {
        if (!text.isEmpty() && words.contains(text, Qt::CaseInsensitive))
            entries.push_back({ words, Words::tr("setting"), choose, false });
    }
    for (const settings::SavedLayout& layout : parts.layouts->saved()) {
        if (!text.isEmpty() && layout.name.contains(text, Qt::CaseInsensitive))
            entries.push_back({ layout.name, Words::tr("layout"),
                [layouts = parts.layouts, name = layout.name] { layouts->apply(name); }, true });
    }
    const items::RunsModel* runs = parts.driver->runs();
    for (const auto group : { items::RunsModel::LiveGroup, items::RunsModel::ArchivedGroup }) {
        for (const store::RunSummary& run : runs->runs(group)) {
            const QString id = QString::fromStdString(run.id);
            const QString name = runs->shownName(run);
            if (!text.isEmpty() && static_cast<int>(entries.size()) < limit && name.contains(text, Qt::CaseInsensitive))
                entries.push_back(
                    { name, Words::tr("run"), [driver = parts.driver, id] { driver->openById(id); }, true });
        }
    }
    if (text.isEmpty() || static_cast<int>(entries.size()) >= limit)
        return exactFirst(std::move(entries), text);
    auto* panel = parts.docks->panel<views::ModulesPanel>();
    const items::ModuleTree& tree = panel->model()->tree();
    const auto catalog = state->catalog();
    if (!catalog)
        return exactFirst(std::move(entries), text);
    const NamePattern pattern(text.toStdString());
    const int mostScalars = std::min(limit, static_cast<int>(entries.size()) + limit / 3); // modules have room, too
    for (const views::ModuleKey& key : scalarsOf(*catalog)) {
        if (static_cast<int>(entries.size()) < mostScalars && pattern.matches(key.name.toStdString()))
            entries.push_back({ items::shownName(key.name), Words::tr("scalar"),
                [state, key, tabs = parts.tabs] {
                    state->setSelection({ key });
                    tabs->setCurrent(QStringLiteral("curves"));
                },
                true });
    }
    for (const int node : tree.matching(pattern, static_cast<std::size_t>(limit) - entries.size())) {
        const QString path = tree.path(node);
        entries.push_back(
            { items::shownName(path), wordOf(*catalog, path), [panel, path] { panel->goTo(path); }, true });
    }
    return exactFirst(std::move(entries), text);
}

}
