// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "incidenttext.h"

class QScrollArea;

namespace telltale::views {

class GlyphLine;
class RoleLabel;

/// The lines of an incident's card below its head. Where they have no room each piece of evidence is cut to one line,
/// then counted; the rest is scrolled.
class IncidentLines : public QWidget {
    Q_OBJECT
public:
    explicit IncidentLines(QWidget* parent = nullptr);

    void set(const IncidentText& text, const QString& plain); ///< plain: for a screen reader
    const IncidentText& text() const { return m_text; }
    /// Fits the evidence into `height` px; px with which nothing is cut.
    int fit(int width, int height);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Fit {
        int whole; ///< px that all lines want
        bool isCut; ///< some is scrolled to
    };
    Fit fitEvidence(int width, int height);
    void fitPage();

    IncidentText m_text;
    QScrollArea* m_area;
    RoleLabel* m_sentence = nullptr;
    std::vector<GlyphLine*> m_evidence;
    RoleLabel* m_ties = nullptr;
    RoleLabel* m_notes = nullptr;
};

}
