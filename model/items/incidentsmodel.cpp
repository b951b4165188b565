// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidentsmodel.h"

#include <algorithm>
#include <array>
#include <tuple>

#include <QElapsedTimer>

#include <telltale/items/comma.h>
#include <telltale/items/guithread.h>
#include <telltale/items/incidentwords.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/ruletitles.h>
#include <telltale/items/shownname.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::items {

using judge::Incident;

namespace {

constexpr qint64 kSliceMs = 8; ///< half a frame
constexpr int kWithoutAClock = 32; ///< records read at once on the busiest machine too: some tens of µs of work

QString plain(const std::string& text)
{
    return QString::fromStdString(text);
}

auto placeInOrder(const Incident& incident)
{
    return std::tuple(incident.first.step, incident.phase, incident.id);
}

bool isBefore(const Incident* a, const Incident* b)
{
    return placeInOrder(*a) < placeInOrder(*b);
}

}

IncidentsModel::IncidentsModel(QObject* parent)
    : QAbstractTableModel(parent)
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(0);
    connect(&m_timer, &QTimer::timeout, this, &IncidentsModel::readOn);
}

void IncidentsModel::clear()
{
    assertGuiThread();
    m_timer.stop();
    m_waiting.clear();
    m_newest.clear();
    const bool hadAny = !m_rows.empty() || !judged().empty();
    beginResetModel();
    m_rows.clear();
    m_book = {};
    endResetModel();
    if (hadAny)
        Q_EMIT changed();
}

void IncidentsModel::append(const std::vector<store::LogRecord>& records)
{
    assertGuiThread();
    for (const store::LogRecord& record : records) {
        const bool isIncident = record.kind == judge::kIncidentRecord;
        if (record.rank.value >= 0
            || (!isIncident && record.kind != judge::kAnnotationRecord && record.kind != judge::kJudgedRecord))
            continue;
        if (!isIncident) {
            m_waiting.push_back(record);
            continue;
        }
        const std::int64_t id = record.ref != 0 ? record.ref : record.id;
        store::LogRecord*& known = m_newest[id];
        if (known) {
            *known = record; // it says all that the one before said
        } else {
            m_waiting.push_back(record);
            known = &m_waiting.back();
        }
        known->ref = id;
    }
    if (!m_timer.isActive())
        readOn();
}

void IncidentsModel::readOn()
{
    QElapsedTimer clock;
    clock.start();
    const bool isAny = !m_waiting.empty();
    for (int read = 0; !m_waiting.empty() && (read < kWithoutAClock || clock.elapsed() < kSliceMs); ++read) {
        const store::LogRecord record = std::move(m_waiting.front());
        m_waiting.pop_front();
        if (record.kind == judge::kIncidentRecord)
            m_newest.erase(record.ref);
        take(record);
    }
    if (!m_waiting.empty())
        m_timer.start();
    if (isAny)
        Q_EMIT changed();
}

void IncidentsModel::take(const store::LogRecord& record)
{
    if (record.kind == judge::kJudgedRecord) {
        m_book.take(record);
        return;
    }
    const auto annotation = judge::Annotation::of(record);
    const std::int64_t id = annotation ? annotation->incident : record.ref;
    const int from = rowOf(id);
    if (from < 0) {
        if (!m_book.take(record))
            return;
        const Incident* made = m_book.standing(id);
        if (made == nullptr || made->id != id)
            return;
        const auto at = std::upper_bound(m_rows.begin(), m_rows.end(), made, isBefore);
        const int row = static_cast<int>(at - m_rows.begin());
        beginInsertRows({}, row, row);
        m_rows.insert(at, made);
        endInsertRows();
        return;
    }
    const Incident* known = m_rows[static_cast<std::size_t>(from)];
    const Incident before = *known;
    if (!m_book.take(record) || *known == before)
        return;
    if (known->into != 0) {
        beginRemoveRows({}, from, from);
        m_rows.erase(m_rows.begin() + from);
        endRemoveRows();
        return;
    }
    // An earlier cause that was found moves it: the others stand in their order, with or without it.
    const auto own = m_rows.begin() + from;
    auto to = std::upper_bound(m_rows.begin(), own, known, isBefore);
    if (to == own)
        to = std::upper_bound(own + 1, m_rows.end(), known, isBefore);
    const int target = static_cast<int>(to - m_rows.begin());
    int row = from;
    if (target != from && target != from + 1) {
        beginMoveRows({}, from, from, {}, target);
        if (target < from)
            std::rotate(to, own, own + 1);
        else
            std::rotate(own, own + 1, to);
        endMoveRows();
        row = target < from ? target : target - 1;
    }
    Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
}

const Incident* IncidentsModel::find(std::int64_t id) const
{
    return m_book.standing(id);
}

int IncidentsModel::rowOf(std::int64_t id) const
{
    const Incident* wanted = find(id);
    if (!wanted)
        return -1;
    const auto at = std::lower_bound(m_rows.begin(), m_rows.end(), wanted, isBefore);
    return at != m_rows.end() && *at == wanted ? static_cast<int>(at - m_rows.begin()) : -1;
}

int IncidentsModel::rowBeside(std::int64_t id, Step step, bool forward) const
{
    int row = rowOf(id);
    if (row >= 0) {
        row += forward ? 1 : -1;
    } else {
        const auto at = std::partition_point(m_rows.begin(), m_rows.end(), [&](const Incident* incident) {
            return forward ? incident->first.step <= step : incident->first.step < step;
        });
        row = static_cast<int>(at - m_rows.begin()) - (forward ? 0 : 1);
    }
    return row < rowCount() ? row : -1;
}

int IncidentsModel::unacknowledged(store::Severity atLeast) const
{
    return static_cast<int>(std::count_if(m_rows.begin(), m_rows.end(),
        [&](const Incident* incident) { return !incident->isAcknowledged && incident->first.severity >= atLeast; }));
}

QString IncidentsModel::placeOf(const Incident& incident)
{
    if (const judge::Finding& first = incident.first; !first.name.empty())
        return incidentwords::withMicroStep(shownName(plain(first.name)), first);
    return incident.phase == judge::Phase::Step ? tr("the step's time") : tr("the run");
}

QString IncidentsModel::severityWord(store::Severity severity)
{
    switch (severity) {
    case store::Severity::Critical:
        return tr("critical");
    case store::Severity::Warning:
        return tr("warning");
    default:
        return tr("notice");
    }
}

QStringList IncidentsModel::saidWords(const Incident& incident)
{
    QStringList words;
    if (incident.label == Incident::Label::False)
        words.append(tr("false alarm"));
    else if (incident.label == Incident::Label::True)
        words.append(tr("true alarm"));
    if (incident.isAcknowledged)
        words.append(tr("acknowledged"));
    return words;
}

QString IncidentsModel::stateText(const Incident& incident)
{
    return (saidWords(incident) << (incident.isOver ? tr("quiet") : tr("open"))).join(items::comma());
}

int IncidentsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int IncidentsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString IncidentsModel::cell(const Incident& incident, int column) const
{
    switch (column) {
    case SeverityColumn:
        return severityWord(incident.first.severity);
    case StepColumn:
        return QString::number(incident.first.step.value);
    case RankColumn:
        return incident.first.rank.value < 0 ? tr("all") : QString::number(incident.first.rank.value);
    case PlaceColumn:
        return placeOf(incident);
    case RuleColumn:
        return ruleTitle(incident.first.rule);
    case SentenceColumn:
        return incident.first.sentence.empty() ? incidentwords::card(incident) : incidentwords::seen(incident.first);
    case FoldedColumn:
        return incident.folded == 0 ? QString() : formatStep(static_cast<qint64>(incident.folded));
    default:
        return stateText(incident);
    }
}

QVariant IncidentsModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Incident& one = incident(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return cell(one, index.column());
    case Qt::ToolTipRole:
        return toolTipText(index.column() == StateColumn ? stateText(one) : incidentwords::card(one));
    case Qt::AccessibleTextRole:
        return index.column() == StepColumn ? tr("step %1").arg(formatStep(one.first.step.value))
                                            : cell(one, index.column());
    case Qt::TextAlignmentRole:
        return headerData(index.column(), Qt::Horizontal, role);
    case SeverityRole:
        return static_cast<int>(one.first.severity);
    case StateRole:
        return one.isAcknowledged;
    case KeyRole:
        return static_cast<qlonglong>(one.id);
    default:
        return {};
    }
}

QVariant IncidentsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter
            | (section == StepColumn || section == RankColumn || section == FoldedColumn ? Qt::AlignRight
                                                                                         : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    const std::array<QString, ColumnCount> titles { tr("Severity"), tr("Step"), tr("Rank"), tr("Place"), tr("Rule"),
        tr("What was seen"), tr("Folded"), tr("State") };
    return titles[static_cast<std::size_t>(section)];
}

}
