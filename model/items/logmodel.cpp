// SPDX-License-Identifier: GPL-3.0-or-later
#include "logmodel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <QDateTime>

#include <telltale/items/tooltiptext.h>

#include <telltale/items/guithread.h>
#include <telltale/items/incidentwords.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/saidwords.h>
#include <telltale/judge/incident.h>
#include <telltale/store/stepnote.h>

namespace telltale::items {

namespace {

constexpr int kMostOwn = 1000;
/// What agents and the store call what happened; another kind is shown as it is.
constexpr const char* kKinds[] { QT_TRANSLATE_NOOP("telltale::items::LogModel", "annotation"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "anomaly"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "checkpoint"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "clock"), QT_TRANSLATE_NOOP("telltale::items::LogModel", "config"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "damage"), QT_TRANSLATE_NOOP("telltale::items::LogModel", "drop"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "gap"), QT_TRANSLATE_NOOP("telltale::items::LogModel", "incident"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "judged"), QT_TRANSLATE_NOOP("telltale::items::LogModel", "log"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "note"), QT_TRANSLATE_NOOP("telltale::items::LogModel", "repaired"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "restart"), QT_TRANSLATE_NOOP("telltale::items::LogModel", "rules"),
    QT_TRANSLATE_NOOP("telltale::items::LogModel", "thinned") };
constexpr int kOmitAtOnce = 1000; ///< so that most insertions remove nothing

QString text(const std::string& s)
{
    return QString::fromStdString(s);
}

QString annotationText(const judge::Annotation& annotation)
{
    switch (annotation.action) {
    case judge::Annotation::Action::Acknowledge:
        return LogModel::tr("the incident of this step is acknowledged");
    case judge::Annotation::Action::True:
        return LogModel::tr("the incident of this step is a true alarm");
    case judge::Annotation::Action::False:
        return LogModel::tr("the incident of this step is a false alarm");
    case judge::Annotation::Action::Note:
        break;
    }
    return LogModel::tr("on the incident of this step: %1").arg(text(annotation.note));
}

QString said(const std::string& s)
{
    return saidwords::inLanguage(text(s));
}

}

LogModel::LogModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

LogModel::Entry LogModel::entryOf(const store::LogRecord& record)
{
    Entry entry { record.placeNs(), record.placeStep().value, record.rank.value, text(record.kind), text(record.text),
        static_cast<int>(record.severity()), false, record.id };
    const auto note = store::StepNote::of(record);
    const auto incident = record.kind == judge::kIncidentRecord ? judge::incidentFrom(record.json) : std::nullopt;
    if (incident && entry.rank < 0) // the record is the run's; what it says is of a rank
        entry.rank = incident->first.rank.value;
    if (const auto annotation = judge::Annotation::of(record))
        entry.text = annotationText(*annotation);
    else if (incident && incident->sentence == record.text)
        entry.text = incidentwords::card(*incident);
    else if (!note) // what people wrote stays as it is
        entry.text = said(record.text);
    if (note) {
        entry.isNote = !note->isRemoved;
        if (note->steps.count() > 1)
            entry.text = tr("%1 (to step %2)").arg(entry.text).arg(formatStep(note->steps.last.value));
        if (note->isRemoved)
            entry.text = tr("%1 (removed)").arg(entry.text);
    }
    if (!record.isDrop)
        return entry;
    if (record.steps.isEmpty())
        entry.step = -1;
    if (record.items == 0) // how many is what nobody knows
        return entry;
    if (record.steps.isEmpty()) {
        entry.text
            = tr("%1 items were not stored: %2").arg(formatStep(static_cast<qint64>(record.items)), said(record.text));
    } else {
        entry.text = tr("%1 items of steps %2 to %3 were not stored: %4")
                         .arg(formatStep(static_cast<qint64>(record.items)))
                         .arg(formatStep(record.steps.first.value))
                         .arg(formatStep(record.steps.last.value))
                         .arg(said(record.text));
    }
    return entry;
}

void LogModel::clearRun()
{
    beginResetModel();
    std::erase_if(m_rows, [](const Entry& entry) { return !entry.isOwn; });
    m_standing.clear();
    m_growing.clear();
    m_ofRun = 0;
    m_omitted = 0;
    endResetModel();
}

void LogModel::setDirectory(const store::Catalog* catalog)
{
    std::vector<Entry> standing;
    if (catalog) {
        for (const store::LogRecord& record : catalog->unaccounted)
            standing.push_back(entryOf(record));
        for (const std::string& damage : catalog->damage)
            standing.push_back({ 0, -1, -1, QStringLiteral("damage"), said(damage), 2 });
    }
    if (standing == m_standing)
        return;
    if (!m_standing.empty()) {
        const auto count = static_cast<std::ptrdiff_t>(m_standing.size());
        beginRemoveRows({}, 0, static_cast<int>(count) - 1);
        m_rows.erase(m_rows.begin(), m_rows.begin() + count);
        m_standing.clear();
        endRemoveRows();
    }
    if (!standing.empty()) {
        beginInsertRows({}, 0, static_cast<int>(standing.size()) - 1);
        m_rows.insert(m_rows.begin(), standing.begin(), standing.end());
        m_standing = std::move(standing);
        endInsertRows();
    }
}

void LogModel::append(const std::vector<store::LogRecord>& records)
{
    assertGuiThread();
    std::vector<Entry> entries;
    for (const store::LogRecord& record : records) {
        Entry entry = entryOf(record);
        if (record.isChanged && change(entry))
            continue;
        if (!record.grows() || !replace(m_growing[{ record.source, record.steps.isEmpty(), record.text }], entry))
            entries.push_back(std::move(entry));
    }
    m_ofRun += static_cast<int>(entries.size());
    insert(std::move(entries));
    if (m_ofRun > kMostOfRun + kOmitAtOnce)
        removeOldest(false, m_ofRun - kMostOfRun);
}

/// Shows `entry` where `known` stands, if it does.
bool LogModel::replace(Entry& known, const Entry& entry)
{
    const Entry before = std::exchange(known, entry);
    const auto row = std::find(m_rows.begin(), firstWithTime(), before);
    if (row == firstWithTime())
        return false;
    show(row, entry);
    return true;
}

/// Shows `entry` where the same record stands, if it does.
bool LogModel::change(const Entry& entry)
{
    const auto standing = m_rows.begin() + static_cast<std::ptrdiff_t>(m_standing.size());
    const auto [from, to] = std::equal_range(
        standing, m_rows.end(), entry, [](const Entry& a, const Entry& b) { return a.wallNs < b.wallNs; });
    const auto row = std::find_if(from, to, [&entry](const Entry& one) { return one.id == entry.id; });
    if (row == to)
        return move(entry);
    if (*row != entry)
        show(row, entry);
    return true;
}

/// Shows `entry` at its new time, if the same record stands anywhere.
bool LogModel::move(const Entry& entry)
{
    if (entry.kind != text(std::string(judge::kJudgedRecord)))
        return false;
    const auto known = std::find_if(m_rows.rbegin(), m_rows.rend(),
        [&entry](const Entry& one) { return one.id == entry.id && one.kind == entry.kind && !one.isOwn; });
    if (known == m_rows.rend())
        return false;
    const int row = static_cast<int>(m_rows.rend() - known) - 1;
    beginRemoveRows({}, row, row);
    m_rows.erase(m_rows.begin() + row);
    endRemoveRows();
    insert({ entry });
    return true;
}

void LogModel::show(const std::deque<Entry>::iterator& row, const Entry& entry)
{
    *row = entry;
    const int at = static_cast<int>(row - m_rows.begin());
    Q_EMIT dataChanged(index(at, 0), index(at, ColumnCount - 1));
}

std::deque<LogModel::Entry>::iterator LogModel::firstWithTime()
{
    return std::upper_bound(m_rows.begin() + static_cast<std::ptrdiff_t>(m_standing.size()), m_rows.end(), Entry {},
        [](const Entry& a, const Entry& b) { return a.wallNs < b.wallNs; });
}

bool LogModel::isOfRun(const QString& sentence) const
{
    return std::any_of(
        m_rows.begin(), m_rows.end(), [&](const Entry& entry) { return !entry.isOwn && entry.text == sentence; });
}

void LogModel::add(Entry entry, bool isOwn)
{
    if (entry.wallNs == 0)
        entry.wallNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    entry.isOwn = isOwn;
    insert({ std::move(entry) });
    if (++(isOwn ? m_own : m_ofRun) > (isOwn ? kMostOwn : kMostOfRun + kOmitAtOnce))
        removeOldest(isOwn, isOwn ? 1 : kOmitAtOnce);
}

void LogModel::insert(std::vector<Entry> entries)
{
    const auto isEarlier = [](const Entry& a, const Entry& b) { return a.wallNs < b.wallNs; };
    std::stable_sort(entries.begin(), entries.end(), isEarlier);
    for (auto from = entries.begin(); from != entries.end();) {
        const auto at = std::upper_bound(
            m_rows.begin() + static_cast<std::ptrdiff_t>(m_standing.size()), m_rows.end(), *from, isEarlier);
        const auto to = at == m_rows.end() ? entries.end() : std::lower_bound(from, entries.end(), *at, isEarlier);
        const int row = static_cast<int>(at - m_rows.begin());
        beginInsertRows({}, row, row + static_cast<int>(to - from) - 1);
        m_rows.insert(at, std::make_move_iterator(from), std::make_move_iterator(to));
        endInsertRows();
        from = to;
    }
}

/// What has a time: a loss that has none stays.
void LogModel::removeOldest(bool own, int count)
{
    auto row = static_cast<int>(firstWithTime() - m_rows.begin());
    while (count > 0 && row < rowCount()) {
        int end = row;
        while (end < rowCount() && end - row < count && entry(end).isOwn == own)
            ++end;
        if (end == row) {
            ++row;
            continue;
        }
        beginRemoveRows({}, row, end - 1);
        m_rows.erase(m_rows.begin() + row, m_rows.begin() + end);
        (own ? m_own : m_ofRun) -= end - row;
        m_omitted += own ? 0 : end - row;
        endRemoveRows();
        count -= end - row;
    }
}

QString LogModel::cell(const Entry& entry, int column) const
{
    switch (column) {
    case TimeColumn:
        return entry.wallNs == 0
            ? QString()
            : QDateTime::fromMSecsSinceEpoch(entry.wallNs / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    case StepColumn:
        return entry.step < 0 ? QString() : QString::number(entry.step);
    case RankColumn:
        return entry.rank < 0 ? QString() : QString::number(entry.rank);
    case KindColumn:
        return tr(entry.kind.toUtf8().constData());
    default:
        return entry.text;
    }
}

QStringList LogModel::kinds()
{
    QStringList words;
    for (const char* kind : kKinds)
        words.append(tr(kind));
    return words;
}

QString LogModel::line(int row) const
{
    QStringList cells;
    for (int column = 0; column < ColumnCount; ++column)
        cells.append(cell(entry(row), column));
    return cells.join(u'\t');
}

int LogModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LogModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LogModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Entry& one = entry(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == StepColumn && one.step >= 0 ? formatStep(one.step) : cell(one, index.column());
    case Qt::ToolTipRole:
        return toolTipText(cell(one, index.column()));
    case Qt::TextAlignmentRole: {
        const bool isNumber = index.column() == StepColumn || index.column() == RankColumn;
        return static_cast<int>(Qt::AlignVCenter | (isNumber ? Qt::AlignRight : Qt::AlignLeft));
    }
    case SeverityRole:
        return one.severity;
    case KeyRole:
        return line(index.row());
    default:
        return {};
    }
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            Qt::AlignVCenter | (section == StepColumn || section == RankColumn ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case TimeColumn:
        return tr("Time");
    case StepColumn:
        return tr("Step");
    case RankColumn:
        return tr("Rank");
    case KindColumn:
        return tr("What");
    default:
        return tr("Message");
    }
}

}
