// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include <telltale/common/glyphs.h>
#include <telltale/common/theme.h>

class QPainter;

namespace telltale::views {

/// A cell that a sentence beside the map names.
struct NamedCell {
    int row = -1; ///< of the picture
    int column = -1;
    glyphs::Severity severity = glyphs::Severity::Warning; ///< as the sentence has it
    bool operator==(const NamedCell&) const = default;
};

void outlineCell(QPainter& painter, const QRectF& cell, const Theme& theme);
/// Outlines the cell, and beside it, before it where there is room in `plot`, the sign that the sentence begins with.
/// Thread: gui.
void paintNamedCell(
    QPainter& painter, const QRectF& plot, const QRectF& cell, glyphs::Severity severity, const Theme& theme);

}
