// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QPoint>
#include <QString>
#include <QTextDocument>

#include <telltale/common/glyphs.h>

class QPainter;

namespace telltale::views {

/// What the card of an incident says. Thread: any (a value).
struct IncidentText {
    glyphs::Severity severity = glyphs::Severity::Notice;
    QString hint; ///< how severe it is, and whether it is over
    QString when;
    QString sentence; ///< HTML
    std::vector<std::pair<glyphs::Severity, QString>> evidence; ///< without what the sentence says
    QString ties;
    QString notes;
};

/// The same words drawn, `width` px wide and as high as they are, for a picture, where nobody scrolls or presses. Of
/// more than `most` px the notes go first, then the ties, then the last of the evidence. Thread: gui.
class IncidentPicture {
public:
    IncidentPicture(IncidentText text, int width, int most);

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

    std::vector<Line> m_lines;
    int m_height = 0;
};

}
