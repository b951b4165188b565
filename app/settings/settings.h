// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QByteArray>
#include <QString>
#include <QStringList>

namespace telltale::settings {

/// A layout of the window that the user has kept. Thread: any (a value).
struct SavedLayout {
    QString name;
    QString view; ///< its id
    QByteArray docks; ///< QMainWindow::saveState
    QByteArray split; ///< QSplitter::saveState

    bool operator==(const SavedLayout&) const = default;
};

/// Everything that the desktop remembers between two starts: one value, one versioned JSON document.
/// Thread: any (a value).
struct Settings {
    static constexpr int kVersion = 1;

    QString theme = QStringLiteral("system"); ///< "system", "dark", "light"
    QString language = QStringLiteral("system"); ///< "system", "en", "zh_CN"
    bool animations = true;

    QByteArray geometry; ///< QWidget::saveGeometry
    QByteArray docks; ///< QMainWindow::saveState
    QString activeTab; ///< a view's id
    QByteArray heatmapSplit; ///< QSplitter::saveState

    QString runPath; ///< the run that was open
    QString kind; ///< the field's own words; empty = the run decides
    QString stat;
    int rank = 0;
    QStringList selection; ///< "name" or "name slot"
    QString moduleFilter;
    QString cursor; ///< the step that is pinned; empty = none
    QStringList comparedRuns; ///< paths, as runPath
    QStringList viewChoices; ///< "box=name", of what each view has chosen for itself
    QString runsGroupedBy; ///< "folder", "name", "tag"; empty = as it comes
    QStringList closedHeadings; ///< of the list of runs
    QStringList recentFiles; ///< newest first
    QString exportFolder;
    std::vector<SavedLayout> layouts;

    bool operator==(const Settings&) const = default;
};

/// Indented UTF-8 JSON.
QByteArray toJson(const Settings& settings);

enum class DocumentState { Whole, Damaged, Newer };
struct ParsedSettings {
    Settings settings; ///< what could be read; defaults for the rest
    DocumentState state = DocumentState::Whole;
    int version = Settings::kVersion;
};
/// Never fails: fields of the wrong type keep their default, and the state says what was wrong with the whole.
ParsedSettings fromJson(const QByteArray& json);

}
