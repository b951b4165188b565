// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QPointer>
#include <QWidget>

class QLineEdit;
class QListWidget;

namespace telltale::shell {

/// Ctrl+K: one field that finds commands, modules and steps.
class CommandPalette : public QWidget {
    Q_OBJECT
public:
    struct Entry {
        QString text;
        QString detail; ///< shortcut, or what kind of thing it is
        std::function<void()> run;
        bool isModule = false;
    };
    /// Asked for what fits the text, best first, at most `limit`.
    using Source = std::function<std::vector<Entry>(const QString& text, int limit)>;

    CommandPalette(Source source, QWidget* window);

    void popUp();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();
    void runCurrent();

    Source m_source;
    std::vector<Entry> m_entries;
    QLineEdit* m_field;
    QListWidget* m_list;
    QPointer<QWidget> m_before; ///< what had the focus
};

}
