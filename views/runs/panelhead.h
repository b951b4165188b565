// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QAction;
class QHBoxLayout;
class QToolButton;

namespace telltale::views {

class RoleLabel;

/// The head of a panel: title, a count or hint beside it, tool buttons at the right. The shell uses it as the dock's
/// title bar, so that a panel looks the same docked, tabbed and floating.
class PanelHead : public QWidget {
    Q_OBJECT
public:
    explicit PanelHead(const QString& title, QWidget* parent = nullptr);

    void setHint(const QString& hint); ///< in text3 behind the title
    void insertAfterTitle(QWidget* widget);
    QToolButton* addButton(const QString& iconName, const QString& toolTip);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QHBoxLayout* m_layout;
    RoleLabel* m_hint;
};

/// A 26 px tool button with an icon of ours, a tooltip and the same text as its accessible name.
QToolButton* makeToolButton(const QString& iconName, const QString& toolTip, QWidget* parent);

/// A title over a part of a view; `label`: where to put it, for who changes it.
QWidget* titled(const QString& title, QWidget* content, QWidget* parent, RoleLabel** label = nullptr);

}
