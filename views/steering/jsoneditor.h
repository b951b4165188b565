// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QPlainTextEdit>

class QCompleter;

namespace telltale::views {

class ConfigDraft;

/// The text of a draft, with line numbers, what is wrong under its value, and names completed as they are typed.
class JsonEditor : public QPlainTextEdit {
    Q_OBJECT
public:
    JsonEditor(ConfigDraft* draft, QWidget* parent = nullptr);

    void goToNextProblem();
    /// The cursor to the value of a field, where it stands in the text.
    void goTo(const QString& pointer);

Q_SIGNALS:
    /// The cursor has come to where something is wrong.
    void problemAtCursor(const QString& sentence, bool isError);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Mark {
        int begin = 0;
        int end = 0;
        bool isError = true;
        QString sentence;
    };

    void takeDraft();
    void mark();
    void paintNumbers();
    int numbersWidth() const;
    QString wordAtCursor() const;
    void complete();
    void insertCompletion(const QString& name);

    ConfigDraft* m_draft;
    QWidget* m_numbers;
    QCompleter* m_completer;
    std::vector<Mark> m_marks;
    bool m_isTaking = false;
};

}
