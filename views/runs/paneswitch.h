// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QObject>

class QSplitter;
class QToolButton;
class QWidget;

namespace telltale::views {

class PanelHead;

/// Two panes of a splitter of which one is shown where it is too narrow for both: a button in their heads changes to
/// the other.
class PaneSwitch final : public QObject {
    Q_OBJECT
public:
    struct Pane {
        QWidget* box = nullptr;
        PanelHead* head = nullptr; ///< of `titled`
    };

    /// enough: how wide the splitter must be for both.
    PaneSwitch(QSplitter* split, Pane first, Pane second, int enough);

Q_SIGNALS:
    /// Other panes are shown now. `hadFocus`: what is hidden now had the keyboard.
    void arranged(bool hadFocus);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void arrange();

    QSplitter* m_split;
    std::array<Pane, 2> m_panes;
    std::array<QToolButton*, 2> m_buttons {};
    int m_enough;
    std::size_t m_shown = 0;
};

}
