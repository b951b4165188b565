// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include <QAbstractTableModel>
#include <QTimer>

#include <telltale/items/roles.h>
#include <telltale/judge/incident.h>

namespace telltale::items {

/// The incidents of the shown run, first cause first. Rows are inserted, changed and moved as the log tells of them.
/// What comes in bulk is read in slices of the event loop, and of what was written again and again only the newest is
/// read. Thread: gui.
class IncidentsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        SeverityColumn,
        StepColumn,
        RankColumn,
        PlaceColumn,
        RuleColumn,
        SentenceColumn,
        FoldedColumn,
        StateColumn,
        ColumnCount
    };

    explicit IncidentsModel(QObject* parent = nullptr);

    void clear(); ///< another run, or none, is shown
    /// More of the run's log, in the order in which it was stored.
    void append(const std::vector<store::LogRecord>& records);
    /// False while there is more to read of what was appended.
    bool isSettled() const { return m_waiting.empty(); }

    /// Which of its steps were judged, as the log says; see judge::IncidentBook.
    const std::vector<judge::Judged>& judged() const { return m_book.judged(); }

    const judge::Incident& incident(int row) const { return *m_rows[static_cast<std::size_t>(row)]; }
    /// The one that it has become part of, where it has; null for an id that there is not.
    const judge::Incident* find(std::int64_t id) const;
    int rowOf(std::int64_t id) const; ///< -1: there is none
    /// The row before or after an incident, or, where there is none with this id, before or after a step; -1: none.
    int rowBeside(std::int64_t id, Step step, bool forward) const;
    /// What nobody has acknowledged, of a severity or worse.
    int unacknowledged(store::Severity atLeast = store::Severity::Notice) const;

    /// "layers.7.attn.qkv", or the words for what is of no module.
    static QString placeOf(const judge::Incident& incident);
    static QString severityWord(store::Severity severity);
    static QStringList saidWords(const judge::Incident& incident); ///< "false alarm", "acknowledged": by people
    /// "false alarm, acknowledged, open": what is cut where it has no room is said last.
    static QString stateText(const judge::Incident& incident);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

Q_SIGNALS:
    void changed(); ///< once for all that one slice told

private:
    void readOn();
    void take(const store::LogRecord& record);
    QString cell(const judge::Incident& incident, int column) const;

    judge::IncidentBook m_book;
    std::vector<const judge::Incident*> m_rows; ///< in the book
    std::deque<store::LogRecord> m_waiting;
    std::unordered_map<std::int64_t, store::LogRecord*> m_newest; ///< waiting records of incidents
    QTimer m_timer;
};

}
