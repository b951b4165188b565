// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <QAbstractTableModel>
#include <QStringList>

#include <telltale/items/roles.h>
#include <telltale/store/catalog.h>

namespace telltale::items {

/// What happened: the shown run's events, drops and damage, and this program's own messages, in order of time; what has
/// no time stands in front. The run's part goes with the run; the program's stays, the last thousand of it. Rows are
/// inserted as they come, and the oldest give way when there are too many to keep. Thread: gui.
class LogModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { TimeColumn, StepColumn, RankColumn, KindColumn, TextColumn, ColumnCount };
    struct Entry {
        qint64 wallNs = 0; ///< 0 = not known
        qint64 step = -1; ///< -1 = none
        int rank = -1; ///< -1 = none
        QString kind;
        QString text;
        int severity = 0; ///< as SeverityRole
        bool isOwn = false; ///< the program's, not the run's
        qint64 id = 0; ///< of the run's record that can be changed; 0 = none
        bool isNote = false; ///< that a person wrote and has not removed
        bool operator==(const Entry&) const = default;
    };

    explicit LogModel(QObject* parent = nullptr);

    static constexpr int kMostOfRun = 50'000;

    void clearRun(); ///< another run, or none, is shown
    /// Damage, and what is unaccounted for; null while it is not known.
    void setDirectory(const store::Catalog* catalog);
    /// More of the run's log, in the order in which it was stored.
    void append(const std::vector<store::LogRecord>& records);
    /// Lines of the run that gave way to newer ones.
    qint64 omitted() const { return m_omitted; }
    /// The run itself already says this.
    bool isOfRun(const QString& sentence) const;
    void add(Entry entry, bool isOwn = true); ///< else it goes with the run
    const Entry& entry(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
    /// What is known to happen, as the column says it; what a run wrote may be called otherwise.
    static QStringList kinds();
    /// One line of tab-separated cells.
    QString line(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    static Entry entryOf(const store::LogRecord& record);
    void insert(std::vector<Entry> entries);
    bool replace(Entry& known, const Entry& entry);
    bool change(const Entry& entry);
    bool move(const Entry& entry);
    void show(const std::deque<Entry>::iterator& row, const Entry& entry);
    std::deque<Entry>::iterator firstWithTime();
    void removeOldest(bool own, int count);
    QString cell(const Entry& entry, int column) const;

    std::deque<Entry> m_rows;
    std::vector<Entry> m_standing; ///< what the directory says, as the first rows show it
    /// Losses that grow, as they are shown: by source, whether their steps are not known, and reason.
    std::map<std::tuple<SourceId, bool, std::string>, Entry> m_growing;
    int m_ofRun = 0;
    int m_own = 0;
    qint64 m_omitted = 0;
};

}
