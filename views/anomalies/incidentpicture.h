// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QPoint>
#include <QString>
#include <QTextDocument>

#include <telltale/common/glyphs.h>

#include "incidenttext.h"

class QPainter;

namespace telltale::views {

/// What the card of an incident says, drawn, `width` px wide and as high as they are, for a picture, where nobody
/// scrolls or presses. Of more than `most` px the notes go first, then the ties, then the last of the evidence. Thread:
/// gui.
class IncidentPicture {
public:
    /// `hint`: how severe it is, and whether it is over.
    IncidentPicture(
        IncidentText text, glyphs::Severity severity, const QString& hint, const QString& when, int width, int most);

    int height() const { return m_height; } ///< 0 where not even the sentence has room
    void paint(QPainter& painter, QPoint at) const;

private:
    struct Line {
        std::unique_ptr<QTextDocument> words;
        int top;
        int indent;
        std::optional<glyphs::Severity> sign;
    };
    void layOut(const IncidentText& text, int width);

    glyphs::Severity m_severity;
    QString m_hint;
    QString m_when;
    std::vector<Line> m_lines;
    int m_height = 0;
};

}
