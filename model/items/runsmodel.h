// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <QAbstractItemModel>

#include <telltale/archive/profileindex.h>
#include <telltale/items/roles.h>
#include <telltale/store/archive.h>

namespace telltale::items {

/// Headings with their runs: Live, Archived, one for each folder that runs were put into (or, as it is asked, for each
/// name or tag), and behind those one for each folder elsewhere. setLive and setArchived change only the rows that
/// differ, so that a refresh keeps the selection. Thread: gui.
class RunsModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Group { LiveGroup, ArchivedGroup, GroupCount };
    enum class GroupBy { Folder, Name, Tag };
    enum Column { NameColumn, RanksColumn, StepColumn, SizeColumn, StartedColumn, ColumnCount };

    explicit RunsModel(QObject* parent = nullptr);

    void setLive(std::vector<store::RunSummary> runs);
    /// What the headings of archived runs stand for.
    void setGroupBy(GroupBy by);
    GroupBy groupBy() const { return m_groupBy; }
    /// In the order given. Runs that are live as well are shown there only, pinned and begun as they are here.
    void setArchived(std::vector<store::RunSummary> runs);
    /// Of runs that are recorded, as far as is known; of others their profiles say it.
    void setIncidents(std::map<store::RunLocator, archive::IncidentCounts> incidents);
    archive::IncidentCounts incidentsOf(const store::RunSummary& run) const;
    /// What reading has found, which the list of the archive does not do; an empty sentence takes it back.
    void setDamage(const store::RunLocator& run, const std::string& sentence);
    /// What runs say of themselves, which the list of the archive does not read: it is asked for when there are runs.
    void setProfiles(archive::ProfileIndex::Profiles profiles);
    /// Null where it is not known.
    const archive::RunProfile* profileOf(const store::RunSummary& run) const;
    bool isEmpty() const { return m_headings[LiveGroup].runs.empty() && m_archived.empty(); }
    /// Of ArchivedGroup all that are not live, whatever heading they are under.
    const std::vector<store::RunSummary>& runs(Group group) const
    {
        return group == LiveGroup ? m_headings[LiveGroup].runs : m_archived;
    }
    /// Folders of one's own that hold runs, and those above them.
    QStringList folders() const;
    /// Whether the run may be renamed, moved and deleted: archived, and not in a folder that is only read.
    bool isOurs(const QModelIndex& index) const;
    /// Null for headings and invalid indexes. Valid until the next change.
    const store::RunSummary* runAt(const QModelIndex& index) const;
    QModelIndex indexOf(const QString& id) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    /// Archived runs take another name in place; setData() asks for it.
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    bool isSharedName(const QString& name) const; ///< more than one run has it
    /// With its id where another run has the same name.
    QString shownName(const store::RunSummary& run) const;
    /// When it began, as long as tells runs of a week apart; the column has less of it, the tool tip all.
    static QString startedText(const store::RunSummary& run);
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

Q_SIGNALS:
    void renameWanted(const QString& id, const QString& name);
    void profilesWanted();
    void profilesChanged();

private:
    struct Heading {
        quintptr id = 0; ///< the internal id of its runs' indexes; no other heading ever has it
        QString title;
        bool isElsewhere = false;
        std::vector<store::RunSummary> runs = {};
    };
    void place(std::vector<store::RunSummary> archived);
    QString titleOf(const store::RunSummary& archived) const; ///< empty = Archived
    int headingOf(quintptr id) const; ///< its row
    void arrange(); ///< the archived runs under their headings
    void set(int heading, std::vector<store::RunSummary> runs);
    QVariant headingData(int heading, int column, int role) const;

    std::vector<Heading> m_headings;
    quintptr m_lastHeading = 0;
    GroupBy m_groupBy = GroupBy::Folder;
    std::vector<store::RunSummary> m_archived; ///< in the order given
    std::map<store::RunLocator, std::string> m_damage; ///< sentences
    struct Listed {
        bool isPinned = false;
        std::int64_t createdNs = 0;
    };
    void takeListed(store::RunSummary& live) const;
    QString stateText(const store::RunSummary& run) const; ///< "finished; 1 critical incident"
    void tellIncidents(const std::function<void()>& change); ///< of rows whose mark is another than before it

    std::map<store::RunLocator, Listed> m_listed; ///< of live ones, too, whose own figures do not say so
    std::map<store::RunLocator, archive::IncidentCounts> m_incidents; ///< of live ones
    archive::ProfileIndex::Profiles m_profiles;
};

}
