// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QMetaType>
#include <QPalette>
#include <QString>

#include <telltale/items/numbertext.h>

class QApplication;

namespace telltale::views {

/// The color roles of the design tokens, for one of the two themes.
struct Theme {
    enum class Mode { Dark, Light };

    Mode mode = Mode::Dark;
    QColor window, base, alt, raised, hover, border, controlBorder, strong;
    QColor text, text2, text3, accent, onAccent, selection, ok, warnText, warnMark, criticalText, criticalMark, notice;
    QColor selectedCritical; ///< criticalText on `selection`
    std::array<QColor, 6> series;

    static const Theme& dark();
    static const Theme& light();
    /// The theme in force in this process (set by apply). Thread: gui.
    static const Theme& current();
    /// Fusion style, palette, the one small style sheet, fonts. Widgets repaint through QEvent::PaletteChange.
    static void apply(QApplication& app, Mode mode);

    /// The color of a text as it can be read on a selected row.
    QColor onSelection(const QColor& color) const;
    QPalette palette() const;
    QString styleSheet() const;
};

/// One of the colors above, whichever theme is in force.
using ThemeColor = QColor Theme::*;
/// An item's data of this role, a ThemeColor, is the color of its text, in views without a delegate of their own.
/// Qt::ForegroundRole would keep the color of the theme that was in force as the item was filled in.
constexpr int kThemeColorRole = Qt::UserRole + 900;

/// Fonts by role and pixel size; weight 400, 500 or 600. Numbers have a family of their own with tabular digits.
QFont wordsFont(int px, int weight = 400);
QFont numberFont(int px, int weight = 400);
QFont codeFont(int px, int weight = 400);

/// Line icon by its file name without ".svg"; recolored from the palette at paint time (text2, text when checked).
QIcon icon(const QString& name);

using items::formatBytes;
using items::formatFraction;
using items::formatPower;
using items::formatShort;
using items::formatStep;
using items::formatSteps;
using items::formatValue;

}

Q_DECLARE_METATYPE(telltale::views::ThemeColor)
