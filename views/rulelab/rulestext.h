// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

namespace telltale::views {

class RulesDraft;

/// The draft as a document, with what is wrong under its value.
class RulesText : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit RulesText(RulesDraft* draft, QWidget* parent = nullptr);

    /// The cursor to a value, where it stands in the text.
    void goTo(const QString& pointer);

protected:
    void changeEvent(QEvent* event) override;

private:
    void takeDraft();
    void mark();

    RulesDraft* m_draft;
    bool m_isTaking = false;
};

}
