// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QDialog>

class QLineEdit;
class QListWidget;
class QPushButton;

namespace telltale::views {
class RoleLabel;
}

namespace telltale::shell {

/// Which folder runs go to: one that there is, or a new one by its name. Says at once what is no name for a folder.
/// Thread: gui.
class FolderDialog : public QDialog {
    Q_OBJECT
public:
    /// `what`: the runs, in words; `now`: the folder that all of them are in, none where they are in several.
    FolderDialog(const QString& what, std::optional<QString> now, const QStringList& folders, QWidget* parent);

    QString folder() const { return m_folder; } ///< as store::folderName() has it; empty = no folder

private:
    void fit();

    std::optional<QString> m_now;
    QString m_folder;
    QLineEdit* m_name;
    QListWidget* m_list;
    views::RoleLabel* m_said;
    QPushButton* m_move;
};

}
