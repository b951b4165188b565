// SPDX-License-Identifier: GPL-3.0-or-later
#include "layouts.h"

#include <algorithm>

#include <QCoreApplication>
#include <QInputDialog>

#include <telltale/items/guithread.h>

#include "dockhost.h"
#include "viewfactory.h"
#include "viewtabs.h"

namespace telltale::shell {

namespace {

constexpr const char* kContext = "telltale::shell::LayoutPreset";
constexpr qsizetype kLongestName = 60;

}

std::span<const LayoutPreset> layoutPresets()
{
    static const std::vector<LayoutPreset> kPresets {
        { "overview", QT_TRANSLATE_NOOP("telltale::shell::LayoutPreset", "Layout: &overview"), { "overview" },
            { "runs", "log" } },
        { "hunt", QT_TRANSLATE_NOOP("telltale::shell::LayoutPreset", "Layout: &hunt for the cause"),
            { "heatmap", "anomalies" }, { "modules", "inspector", "anomalies" } },
        { "compare", QT_TRANSLATE_NOOP("telltale::shell::LayoutPreset", "Layout: &compare runs"),
            { "compare", "curves" }, { "runs", "modules" } },
    };
    return kPresets;
}

QString LayoutPreset::title() const
{
    return QCoreApplication::translate(kContext, name);
}

Layouts::Layouts(DockHost* docks, ViewTabs* tabs, QWidget* window)
    : QObject(window)
    , m_docks(docks)
    , m_tabs(tabs)
    , m_window(window)
{
}

void Layouts::apply(const LayoutPreset& preset)
{
    items::assertGuiThread();
    QStringList open;
    for (const char* panel : preset.panels)
        open.append(QLatin1String(panel));
    m_docks->arrange(open);
    const auto known = std::find_if(preset.views.begin(), preset.views.end(),
        [](const char* view) { return findView(QLatin1String(view)) != nullptr; });
    if (known != preset.views.end())
        m_tabs->setCurrent(QLatin1String(*known));
    Q_EMIT applied();
}

void Layouts::apply(const QString& name)
{
    items::assertGuiThread();
    const auto at = std::find_if(m_saved.begin(), m_saved.end(), [&](const auto& one) { return one.name == name; });
    if (at == m_saved.end())
        return;
    m_docks->restore(at->docks);
    m_tabs->restoreSplit(at->split);
    m_tabs->setCurrent(at->view); // which may be of another version: then the tab stays
    Q_EMIT applied();
}

void Layouts::save(const QString& name)
{
    items::assertGuiThread();
    settings::SavedLayout layout { name, m_tabs->currentId(), m_docks->save(), m_tabs->splitState() };
    const auto at = std::find_if(m_saved.begin(), m_saved.end(), [&](const auto& one) { return one.name == name; });
    if (at == m_saved.end())
        m_saved.push_back(std::move(layout));
    else
        *at = std::move(layout);
}

void Layouts::askSave()
{
    const QString name = QInputDialog::getText(
        m_window, tr("Save the layout"), tr("Panels, sizes and the view that is shown, under a name:"))
                             .simplified()
                             .left(kLongestName);
    if (!name.isEmpty())
        save(name);
}

void Layouts::remove(const QString& name)
{
    std::erase_if(m_saved, [&](const auto& one) { return one.name == name; });
}

}
