// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/common/theme.h>

class QAction;
class QHBoxLayout;
class QToolButton;

namespace telltale::views {

class RoleLabel;

/// The head of a panel: title, a count or hint beside it, a detail and tool buttons at the right. The shell uses it as
/// the dock's title bar, so that a panel looks the same docked, tabbed and floating.
class PanelHead : public QWidget {
    Q_OBJECT
public:
    explicit PanelHead(const QString& title, QWidget* parent = nullptr);

    QString title() const;
    void setTitle(const QString& title);
    /// False: it stands on a tab above. A head of nothing else then takes no room.
    void setTitleVisible(bool on);
    void setHint(const QString& hint); ///< in text3 behind the title
    /// Before the buttons; cut at its end, or not shown, where it has no room.
    void setDetail(const QString& detail, ThemeColor color = &Theme::text3);
    void insertAfterTitle(QWidget* widget);
    QToolButton* addButton(const QString& iconName, const QString& toolTip);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void fitDetail();
    void fitHint();
    int wantedHeight() const;
    int widthOf(const RoleLabel* label) const; ///< with the space before it; 0 of one that is not shown

    QHBoxLayout* m_layout;
    RoleLabel* m_title;
    RoleLabel* m_hint;
    RoleLabel* m_detail;
    QString m_detailText; ///< whole
};

/// A 26 px tool button with an icon of ours, a tooltip and the same text as its accessible name.
QToolButton* makeToolButton(const QString& iconName, const QString& toolTip, QWidget* parent);

/// A head over a part of a view; `head`: where to put it, for who changes it.
QWidget* titled(const QString& title, QWidget* content, QWidget* parent, PanelHead** head = nullptr);

}
