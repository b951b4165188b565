// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <telltale/store/stepnote.h>

class QPlainTextEdit;
class QPushButton;

namespace telltale::shell {

/// The text of a note at a step or a range. Ctrl+Return keeps it. Thread: gui.
class NoteDialog : public QDialog {
    Q_OBJECT
public:
    /// `whyNot`: why it can only be read; empty where it can be changed.
    NoteDialog(const store::StepNote& note, const QString& whyNot, QWidget* parent);

    QString text() const;

Q_SIGNALS:
    void removeWanted();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QPlainTextEdit* m_text;
    QPushButton* m_save = nullptr;
};

}
