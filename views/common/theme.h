// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QColor>
#include <QFont>
#include <QIcon>
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
    std::array<QColor, 6> series;

    static const Theme& dark();
    static const Theme& light();
    /// The theme in force in this process (set by apply). Thread: gui.
    static const Theme& current();
    /// Fusion style, palette, the one small style sheet, fonts. Widgets repaint through QEvent::PaletteChange.
    static void apply(QApplication& app, Mode mode);

    QPalette palette() const;
    QString styleSheet() const;
};

/// Fonts by role and pixel size; weight 400, 500 or 600. Numbers have a family of their own with tabular digits.
QFont wordsFont(int px, int weight = 400);
QFont numberFont(int px, int weight = 400);
QFont codeFont(int px, int weight = 400);

/// Line icon by its file name without ".svg"; recolored from the palette at paint time (text2, text when checked).
QIcon icon(const QString& name);

using items::formatBytes;
using items::formatFraction;
using items::formatShort;
using items::formatStep;
using items::formatValue;

}
