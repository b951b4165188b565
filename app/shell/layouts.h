// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <QObject>
#include <QString>

#include <telltale/settings/settings.h>

namespace telltale::shell {

class DockHost;
class ViewTabs;

/// What the window looks like for one purpose: a row of layouts.cpp. Views and panels are named by id; of the views the
/// first that there is is shown.
struct LayoutPreset {
    const char* id; ///< "hunt": in "layout.hunt"
    const char* name; ///< English, with its mnemonic; a user reads title()
    std::vector<const char*> views;
    std::vector<const char*> panels; ///< those that are open

    QString title() const;
};

std::span<const LayoutPreset> layoutPresets();

/// The layouts of the window: those for a purpose, and those that the user has kept. Thread: gui.
class Layouts : public QObject {
    Q_OBJECT
public:
    Layouts(DockHost* docks, ViewTabs* tabs, QWidget* window);

    void apply(const LayoutPreset& preset);
    /// Nothing happens where there is none of that name.
    void apply(const QString& name);
    /// Keeps what the window looks like now; the same name again replaces it.
    void save(const QString& name);
    void askSave();
    void remove(const QString& name);

    const std::vector<settings::SavedLayout>& saved() const { return m_saved; }
    void setSaved(std::vector<settings::SavedLayout> saved) { m_saved = std::move(saved); }

Q_SIGNALS:
    void applied();

private:
    DockHost* m_docks;
    ViewTabs* m_tabs;
    QWidget* m_window;
    std::vector<settings::SavedLayout> m_saved; ///< in the order in which they were kept
};

}
