// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

#include <telltale/common/theme.h>

namespace telltale::views {

/// A label in one of the theme's text colors, which QPalette has too few roles for; follows a change of theme.
class RoleLabel : public QLabel {
    Q_OBJECT
public:
    using Color = ThemeColor;

    explicit RoleLabel(Color color, const QFont& font, QWidget* parent = nullptr);
    RoleLabel(const QString& text, Color color, const QFont& font, QWidget* parent = nullptr);

    void setColor(Color color);
    /// Marks a label whose text is data (a number, a name), not words of ours; translation tests skip it.
    RoleLabel* asData();

protected:
    void changeEvent(QEvent* event) override;

private:
    void recolor();

    Color m_color;
};

}
