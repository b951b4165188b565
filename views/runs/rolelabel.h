// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

#include <telltale/common/theme.h>

namespace telltale::views {

/// A label in one of the theme's text colours, which QPalette has too few roles for; follows a change of theme.
/// Thread: gui.
class RoleLabel : public QLabel {
    Q_OBJECT
public:
    using Colour = QColor Theme::*;

    explicit RoleLabel(Colour colour, const QFont& font, QWidget* parent = nullptr);
    RoleLabel(const QString& text, Colour colour, const QFont& font, QWidget* parent = nullptr);

    void setColour(Colour colour);
    /// Marks a label whose text is data (a number, a name), not words of ours; translation tests skip it.
    RoleLabel* asData();

protected:
    void changeEvent(QEvent* event) override;

private:
    void recolour();

    Colour m_colour;
};

}
