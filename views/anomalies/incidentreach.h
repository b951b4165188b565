// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include <QTreeWidget>

#include <telltale/judge/incident.h>

namespace telltale::views {

class ViewState;

/// The blocks and ranks that an incident reached; a click on one goes there.
class IncidentReach : public QTreeWidget {
    Q_OBJECT
public:
    explicit IncidentReach(ViewState* state, QWidget* parent = nullptr);

    void showIncident(const judge::Incident& incident);
    int wish() const; ///< px, of its head and all rows
    static int heightOf(int rows); ///< px of a picture of so many
    /// Its rows as text, from the first, as far as they have room; the last says how many there are besides.
    void paintRows(QPainter& painter, const QRect& place) const;

    /// The step by which every rank that it reached had a finding.
    static Step reachedBy(const judge::Incident& incident);
    /// Of each place that it reached, without what it began with: together as many as were folded.
    static std::vector<std::uint64_t> laterFindings(const judge::Incident& incident);

private:
    void goTo(const QTreeWidgetItem* item);

    ViewState* m_state;
};

}
