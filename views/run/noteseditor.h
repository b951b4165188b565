// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QPlainTextEdit;
class QPushButton;

namespace telltale::views {

class RoleLabel;

/// A run's notes: Ctrl+Return or Save hands them on, Escape takes back what was written since. What somebody is writing
/// stays when the run's own notes change. Thread: gui.
class NotesEditor : public QWidget {
    Q_OBJECT
public:
    explicit NotesEditor(QWidget* parent = nullptr);

    void set(const QString& notes, const QString& author); ///< as the run has them
    void clear(); ///< for another run
    void setWritable(bool isWritable);
    void setHint(const QString& hint); ///< why nothing is written, or was not
    bool isChanged() const;
    QString text() const;

Q_SIGNALS:
    void saveWanted(const QString& notes);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void save();
    void refresh();

    QPlainTextEdit* m_edit;
    RoleLabel* m_hint;
    QPushButton* m_save;
    QString m_notes; ///< the run's
    QString m_author;
    QString m_why;
    bool m_isWritable = false;
};

}
