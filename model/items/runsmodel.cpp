// SPDX-License-Identifier: GPL-3.0-or-later
#include "runsmodel.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <QCoreApplication>
#include <QDateTime>

#include <telltale/items/comma.h>
#include <telltale/items/guithread.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/rowsync.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::items {

namespace {

constexpr quintptr kHeading = 0; ///< internal id of headings; a run holds its heading's

auto shownPart(const store::RunSummary& run)
{
    return std::tie(run.id, run.name, run.locator, run.state, run.ranks, run.lastStep, run.fileBytes, run.note,
        run.createdNs, run.isElsewhere, run.isPinned);
}

/// In the time of this place, in a format of QDateTime.
QString startedAs(const QString& ofToday, const QString& ofThisYear, const QString& older, std::int64_t createdNs)
{
    if (createdNs <= 0)
        return {};
    const QDateTime started = QDateTime::fromMSecsSinceEpoch(createdNs / 1'000'000);
    const QDate day = started.date(), today = QDate::currentDate();
    return started.toString(day == today ? ofToday : day.year() == today.year() ? ofThisYear : older);
}

QString startedInBrief(const store::RunSummary& run)
{
    return startedAs(QStringLiteral("HH:mm"), QStringLiteral("MM-dd"), QStringLiteral("yyyy-MM"), run.createdNs);
}

QString startedWhole(const store::RunSummary& run)
{
    const QString whole = QStringLiteral("yyyy-MM-dd HH:mm:ss");
    return startedAs(whole, whole, whole, run.createdNs);
}

}

RunsModel::RunsModel(QObject* parent)
    : QAbstractItemModel(parent)
{
    m_headings.push_back({ ++m_lastHeading, tr("Live") });
    m_headings.push_back({ ++m_lastHeading, tr("Archived") });
}

void RunsModel::setLive(std::vector<store::RunSummary> runs)
{
    const auto& live = m_headings[LiveGroup].runs;
    const bool areSame = std::equal(runs.begin(), runs.end(), live.begin(), live.end(),
        [](const store::RunSummary& a, const store::RunSummary& b) { return a.locator == b.locator; });
    for (store::RunSummary& run : runs)
        takeListed(run);
    set(LiveGroup, std::move(runs));
    if (!areSame) // their figures, which come every second, are nothing to thousands of archived ones
        place(m_archived);
}

void RunsModel::setArchived(std::vector<store::RunSummary> runs)
{
    m_listed.clear();
    for (const store::RunSummary& run : runs)
        m_listed[run.locator] = { run.isPinned, run.createdNs };
    std::vector<store::RunSummary> live = m_headings[LiveGroup].runs;
    for (store::RunSummary& run : live)
        takeListed(run);
    set(LiveGroup, std::move(live));
    place(std::move(runs));
    if (!m_archived.empty())
        Q_EMIT profilesWanted();
}

void RunsModel::takeListed(store::RunSummary& live) const
{
    const auto listed = m_listed.find(live.locator);
    const Listed known = listed == m_listed.end() ? Listed {} : listed->second;
    live.isPinned = known.isPinned;
    if (live.createdNs <= 0)
        live.createdNs = known.createdNs;
}

void RunsModel::setIncidents(std::map<store::RunLocator, archive::IncidentCounts> incidents)
{
    assertGuiThread();
    if (incidents != m_incidents)
        tellIncidents([&] { m_incidents = std::move(incidents); });
}

archive::IncidentCounts RunsModel::incidentsOf(const store::RunSummary& run) const
{
    if (const auto live = m_incidents.find(run.locator); live != m_incidents.end())
        return live->second;
    const archive::RunProfile* profile = profileOf(run);
    return profile ? profile->incidents : archive::IncidentCounts {};
}

void RunsModel::tellIncidents(const std::function<void()>& change)
{
    std::map<store::RunLocator, archive::IncidentCounts> before;
    for (const Heading& heading : m_headings) {
        for (const store::RunSummary& run : heading.runs)
            before[run.locator] = incidentsOf(run);
    }
    change();
    for (std::size_t i = 0; i < m_headings.size(); ++i) {
        const QModelIndex parent = index(static_cast<int>(i), 0);
        for (int row = 0; row < rowCount(parent); ++row) {
            const store::RunSummary& run = m_headings[i].runs[static_cast<std::size_t>(row)];
            if (incidentsOf(run) != before[run.locator])
                Q_EMIT dataChanged(index(row, NameColumn, parent), index(row, NameColumn, parent));
        }
    }
}

QString RunsModel::stateText(const store::RunSummary& run) const
{
    const auto [notices, warnings, criticals] = incidentsOf(run);
    QStringList incidents;
    if (criticals > 0)
        incidents.append(tr("%n critical incidents", nullptr, static_cast<int>(criticals)));
    if (warnings > 0)
        incidents.append(tr("%n warnings", nullptr, static_cast<int>(warnings)));
    const QString state = QCoreApplication::translate("RunState", store::runStateName(run.state).data());
    return incidents.isEmpty() ? state : state + semicolon() + incidents.join(comma());
}

void RunsModel::place(std::vector<store::RunSummary> runs)
{
    std::erase_if(runs, [this](const store::RunSummary& run) {
        const auto& live = m_headings[LiveGroup].runs;
        return std::any_of(
            live.begin(), live.end(), [&](const store::RunSummary& other) { return other.locator == run.locator; });
    });
    for (store::RunSummary& run : runs) {
        const auto damage = m_damage.find(run.locator);
        if (damage == m_damage.end())
            continue;
        run.state = store::RunState::Damaged;
        run.note = damage->second;
    }
    m_archived = std::move(runs);
    arrange();
}

void RunsModel::setGroupBy(GroupBy by)
{
    if (std::exchange(m_groupBy, by) == by)
        return;
    arrange();
}

QString RunsModel::titleOf(const store::RunSummary& archived) const
{
    if (m_groupBy == GroupBy::Folder || archived.isElsewhere)
        return QString::fromStdString(archived.folder);
    if (m_groupBy == GroupBy::Name)
        return QString::fromStdString(archived.name);
    QStringList tags;
    if (const archive::RunProfile* profile = profileOf(archived)) {
        for (const std::string& tag : profile->tags)
            tags.append(QString::fromStdString(tag));
    }
    return tags.join(QStringLiteral(", "));
}

void RunsModel::arrange()
{
    using Key = std::pair<bool, QString>; // those elsewhere come last
    std::map<Key, std::vector<store::RunSummary>> wanted;
    for (const store::RunSummary& run : m_archived)
        wanted[{ run.isElsewhere, titleOf(run) }].push_back(run);
    set(ArchivedGroup, std::move(wanted[Key()]));
    wanted.erase(Key());
    const auto keyOf = [this](std::size_t row) { return Key(m_headings[row].isElsewhere, m_headings[row].title); };
    for (std::size_t i = m_headings.size(); i-- > GroupCount;) {
        if (wanted.contains(keyOf(i)))
            continue;
        beginRemoveRows({}, static_cast<int>(i), static_cast<int>(i));
        m_headings.erase(m_headings.begin() + static_cast<std::ptrdiff_t>(i));
        endRemoveRows();
    }
    int row = GroupCount;
    for (auto& [key, runs] : wanted) {
        if (row == rowCount() || keyOf(static_cast<std::size_t>(row)) != key) {
            beginInsertRows({}, row, row);
            m_headings.insert(m_headings.begin() + row, { ++m_lastHeading, key.second, key.first });
            endInsertRows();
        }
        set(row++, std::move(runs));
    }
}

void RunsModel::setDamage(const store::RunLocator& run, const std::string& sentence)
{
    const auto known = m_damage.find(run);
    if (known == m_damage.end() ? sentence.empty() : known->second == sentence)
        return;
    if (sentence.empty())
        m_damage.erase(run);
    else
        m_damage[run] = sentence;
    place(m_archived);
}

void RunsModel::setProfiles(archive::ProfileIndex::Profiles profiles)
{
    assertGuiThread();
    tellIncidents([&] { m_profiles = std::move(profiles); });
    if (m_groupBy == GroupBy::Tag)
        arrange();
    Q_EMIT profilesChanged();
}

const archive::RunProfile* RunsModel::profileOf(const store::RunSummary& run) const
{
    const auto known = m_profiles.find(run.locator);
    return known == m_profiles.end() ? nullptr : known->second.get();
}

void RunsModel::set(int heading, std::vector<store::RunSummary> wanted)
{
    assertGuiThread();
    std::vector<store::RunSummary>& rows = m_headings[static_cast<std::size_t>(heading)].runs;
    const QModelIndex parent = index(heading, 0);
    const auto keys = [](const std::vector<store::RunSummary>& list) {
        std::vector<std::string> result;
        result.reserve(list.size());
        for (const store::RunSummary& run : list)
            result.push_back(run.locator.text());
        return result;
    };
    const std::size_t before = rows.size();
    RowOperations operations;
    operations.remove = [&](int first, int last) {
        beginRemoveRows(parent, first, last);
        rows.erase(rows.begin() + first, rows.begin() + last + 1);
        endRemoveRows();
    };
    operations.move = [&](int from, int to) {
        beginMoveRows(parent, from, from, parent, to > from ? to + 1 : to);
        store::RunSummary run = std::move(rows[static_cast<std::size_t>(from)]);
        rows.erase(rows.begin() + from);
        rows.insert(rows.begin() + to, std::move(run));
        endMoveRows();
    };
    operations.insert = [&](int row, int firstWanted, int count) {
        beginInsertRows(parent, row, row + count - 1);
        rows.insert(rows.begin() + row, wanted.begin() + firstWanted, wanted.begin() + firstWanted + count);
        endInsertRows();
    };
    syncRows(keys(rows), keys(wanted), operations);

    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (shownPart(rows[i]) == shownPart(wanted[i]))
            continue;
        rows[i] = std::move(wanted[i]);
        Q_EMIT dataChanged(index(static_cast<int>(i), 0, parent), index(static_cast<int>(i), ColumnCount - 1, parent));
    }
    if (rows.size() != before)
        Q_EMIT dataChanged(index(heading, 0), index(heading, ColumnCount - 1));
}

const store::RunSummary* RunsModel::runAt(const QModelIndex& index) const
{
    if (!index.isValid() || index.internalId() == kHeading)
        return nullptr;
    const int heading = headingOf(index.internalId());
    return heading < 0 ? nullptr
                       : &m_headings[static_cast<std::size_t>(heading)].runs[static_cast<std::size_t>(index.row())];
}

int RunsModel::headingOf(quintptr id) const
{
    const auto at
        = std::find_if(m_headings.begin(), m_headings.end(), [id](const Heading& heading) { return heading.id == id; });
    return at == m_headings.end() ? -1 : static_cast<int>(at - m_headings.begin());
}

QStringList RunsModel::folders() const
{
    std::set<QString> found;
    for (const store::RunSummary& run : m_archived) {
        QString folder = run.isElsewhere ? QString() : QString::fromStdString(run.folder);
        for (; !folder.isEmpty(); folder.truncate(std::max<qsizetype>(folder.lastIndexOf(u'/'), 0)))
            found.insert(folder);
    }
    return { found.begin(), found.end() };
}

bool RunsModel::isOurs(const QModelIndex& index) const
{
    const store::RunSummary* run = runAt(index);
    return run && index.internalId() != m_headings[LiveGroup].id && !run->isElsewhere;
}

bool RunsModel::isSharedName(const QString& name) const
{
    const std::string wanted = name.toStdString();
    std::ptrdiff_t alike = 0;
    for (const Heading& heading : m_headings)
        alike += std::count_if(heading.runs.begin(), heading.runs.end(),
            [&](const store::RunSummary& other) { return other.name == wanted; });
    return alike > 1;
}

QString RunsModel::startedText(const store::RunSummary& run)
{
    const QString ofWeek = QStringLiteral("MM-dd HH:mm");
    return startedAs(QStringLiteral("HH:mm:ss"), ofWeek, ofWeek, run.createdNs);
}

QString RunsModel::shownName(const store::RunSummary& run) const
{
    const QString name = QString::fromStdString(run.name);
    return isSharedName(name) ? name + u' ' + QString::fromStdString(store::shortRunId(run.id)) : name;
}

QModelIndex RunsModel::indexOf(const QString& id) const
{
    for (int heading = 0; heading < rowCount(); ++heading) {
        const auto& rows = m_headings[static_cast<std::size_t>(heading)].runs;
        const auto at = std::find_if(
            rows.begin(), rows.end(), [&](const store::RunSummary& run) { return run.id == id.toStdString(); });
        if (at != rows.end())
            return index(static_cast<int>(at - rows.begin()), 0, index(heading, 0));
    }
    return {};
}

QModelIndex RunsModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(
        row, column, parent.isValid() ? m_headings[static_cast<std::size_t>(parent.row())].id : kHeading);
}

QModelIndex RunsModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || child.internalId() == kHeading)
        return {};
    const int heading = headingOf(child.internalId());
    return heading < 0 ? QModelIndex() : createIndex(heading, 0, kHeading);
}

int RunsModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_headings.size());
    if (parent.internalId() != kHeading || parent.column() > 0)
        return 0;
    return static_cast<int>(m_headings[static_cast<std::size_t>(parent.row())].runs.size());
}

int RunsModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QVariant RunsModel::headingData(int heading, int column, int role) const
{
    const Heading& shown = m_headings[static_cast<std::size_t>(heading)];
    if (role == Qt::DisplayRole && column == NameColumn)
        return lineText(shown.title);
    if (role == HeadingRole)
        return heading < GroupCount ? QStringLiteral("/%1").arg(heading) : shown.title;
    if (role == Qt::ToolTipRole && shown.isElsewhere)
        return toolTipText(tr("%1: its runs are only read").arg(shown.title));
    if (role == IsGroupRole)
        return true;
    if (role == CountRole)
        return static_cast<int>(shown.runs.size());
    return {};
}

QVariant RunsModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const store::RunSummary* run = runAt(index);
    if (!run)
        return headingData(index.row(), index.column(), role);
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case NameColumn:
            return shownName(*run);
        case RanksColumn:
            return QString::number(run->ranks);
        case StartedColumn:
            return startedInBrief(*run);
        case StepColumn:
            return run->lastStep.value < 0 ? tr("none") : formatStep(run->lastStep.value);
        default:
            return formatBytes(run->fileBytes);
        }
    case Qt::EditRole:
        return QString::fromStdString(run->name);
    case Qt::ToolTipRole: {
        const QString note = QString::fromStdString(run->note);
        QString first = tr("%1, %2, %3").arg(shownName(*run), formatBytes(run->fileBytes), stateText(*run));
        if (run->createdNs > 0)
            first += u'\n' + tr("started %1, %n ranks", nullptr, run->ranks).arg(startedWhole(*run));
        if (run->isPinned)
            first += u'\n' + tr("pinned: no rule removes it");
        return toolTipText(first + u'\n' + (note.isEmpty() ? QString::fromStdString(run->locator.text()) : note));
    }
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter | (index.column() == NameColumn ? Qt::AlignLeft : Qt::AlignRight));
    case SortRole:
        return index.column() == NameColumn   ? QVariant(QString::fromStdString(run->name))
            : index.column() == RanksColumn   ? QVariant(run->ranks)
            : index.column() == StartedColumn ? QVariant(static_cast<qint64>(run->createdNs))
            : index.column() == StepColumn    ? QVariant(static_cast<qint64>(run->lastStep.value))
                                              : QVariant(static_cast<qulonglong>(run->fileBytes));
    case KeyRole:
        return QString::fromStdString(run->id);
    case StateRole:
        return static_cast<int>(run->state);
    case PinnedRole:
        return run->isPinned;
    case SeverityRole: {
        const auto [notices, warnings, criticals] = incidentsOf(*run);
        return criticals > 0 ? 2 : warnings > 0 ? 1 : 0;
    }
    case Qt::AccessibleTextRole: {
        const bool hasMark = index.data(SeverityRole).toInt() > 0;
        if (index.column() != NameColumn || (!run->isPinned && !hasMark))
            return {};
        const QString name = shownName(*run) + (hasMark ? comma() + stateText(*run) : QString());
        return run->isPinned ? tr("%1, pinned").arg(name) : name;
    }
    case IsGroupRole:
        return false;
    default:
        return {};
    }
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = QAbstractItemModel::flags(index);
    return isOurs(index) && index.column() == NameColumn ? flags | Qt::ItemIsEditable : flags;
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    assertGuiThread();
    const store::RunSummary* run = role == Qt::EditRole ? runAt(index) : nullptr;
    const QString name = value.toString().trimmed();
    if (!run || name.isEmpty() || name == QString::fromStdString(run->name))
        return false;
    // It has the new name when the archive has been read again.
    Q_EMIT renameWanted(QString::fromStdString(run->id), name);
    return true;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter | (section == NameColumn ? Qt::AlignLeft : Qt::AlignRight));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn:
        return tr("Name");
    case RanksColumn:
        return tr("Ranks");
    case StepColumn:
        return tr("Last step");
    case StartedColumn:
        return tr("Started");
    default:
        return tr("Size");
    }
}

}
