// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranktable.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <QHeaderView>
#include <QPainter>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>

#include <telltale/common/glyphs.h>
#include <telltale/common/sparkpainter.h>
#include <telltale/common/tableshape.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/comma.h>
#include <telltale/items/connectionsmodel.h>
#include <telltale/items/guithread.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/roles.h>

namespace telltale::views {
namespace {

constexpr int kInset = 8; ///< px, as of the headings
constexpr int kLeastTimes = 72; ///< px of a line that can be read
constexpr double kPitch = 3; ///< px from point to point of one, at least

class RankDelegate : public QStyledItemDelegate {
public:
    RankDelegate(const RankTableModel* model, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_model(model)
    {
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        const RankTableModel::Row& row = m_model->rows()[static_cast<std::size_t>(index.row())];
        const bool isCurrent = option.state.testFlag(QStyle::State_Selected);
        if (isCurrent)
            painter->fillRect(option.rect, theme.selection);
        const bool isLoud = index.data(items::SeverityRole).toInt() > 0;
        if (index.column() == RankTableModel::TimesColumn) {
            const QRectF area = QRectF(option.rect).adjusted(kInset, 7, -kInset - 14, -7);
            const auto points = static_cast<std::size_t>(std::max(2.0, area.width() / kPitch));
            paintSpark(*painter, area, thinned(row.times, points), m_model->low(), m_model->high(),
                isLoud          ? theme.warnMark
                    : isCurrent ? theme.text
                                : theme.text2);
            if (isLoud)
                glyphs::paintSeverity(*painter, QPointF(option.rect.right() - 10, option.rect.center().y()), 9,
                    glyphs::Severity::Warning, theme);
            return;
        }
        painter->setFont(numberFont(12, isCurrent || isLoud ? 600 : 400));
        painter->setPen(isLoud ? theme.warnText : theme.text);
        painter->drawText(
            wordsOf(option.rect, index), index.data(Qt::TextAlignmentRole).toInt(), index.data().toString());
    }

private:
    const RankTableModel* m_model;
};

/// The agent of a rank that is connected, else the one that was heard last: a training may have had several.
void takeAgent(std::optional<ConnectionInfo>& known, const ConnectionInfo& agent)
{
    const auto order = [](const ConnectionInfo& one) { return std::pair(one.connected, one.lastHeardNs); };
    if (!known || order(*known) < order(agent))
        known = agent;
}

}

void RankTableModel::set(const ViewState& state, const RankTimes* times)
{
    items::assertGuiThread();
    std::map<Rank, Row> rows;
    if (const auto catalog = state.catalog()) {
        for (const store::SourceInfo& source : catalog->sources) {
            if (source.rank.value < 0)
                continue;
            Row& row = rows[source.rank];
            row.rank = source.rank;
            row.lastStep = std::max(row.lastStep, source.lastStep);
        }
    }
    for (auto& [rank, row] : rows)
        row.dropped = state.droppedSamples(rank);
    for (const ConnectionInfo& agent : state.agents()) {
        const auto row = rows.find(agent.rank);
        if (row == rows.end())
            continue;
        takeAgent(row->second.agent, agent);
        row->second.dropped = std::max(row->second.dropped, agent.droppedSamples);
    }
    m_low = std::numeric_limits<double>::infinity();
    m_high = -m_low;
    for (const RankTimes::Box& box : times != nullptr ? times->boxes : std::vector<RankTimes::Box>()) {
        const auto row = rows.find(box.rank);
        if (row == rows.end())
            continue;
        row->second.times = box.steps;
        row->second.isSlow = box.isSlow;
        m_low = std::min(m_low, box.low);
        m_high = std::max(m_high, box.high);
    }
    const bool isSame = std::equal(rows.begin(), rows.end(), m_rows.begin(), m_rows.end(),
                            [](const auto& a, const Row& b) { return a.first == b.rank; })
        && m_isLive == !state.agents().empty();
    if (!isSame)
        beginResetModel();
    m_isLive = !state.agents().empty();
    m_rows.clear();
    m_rows.reserve(rows.size());
    m_lastStep = Step { -1 };
    for (auto& [rank, row] : rows) {
        m_lastStep = std::max(m_lastStep, row.lastStep);
        m_rows.push_back(std::move(row));
    }
    if (!isSame)
        endResetModel();
    else if (!m_rows.empty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

QString RankTableModel::sentence() const
{
    QStringList slow, early, late, offline, lossy;
    for (const Row& row : m_rows) {
        const QString rank = QString::number(row.rank.value);
        if (row.isSlow)
            slow.append(rank);
        if (isLoud(row, LastStepColumn))
            early.append(rank);
        if (isLoud(row, LagColumn))
            (row.agent->connected ? late : offline).append(rank);
        if (row.dropped > 0)
            lossy.append(rank);
    }
    QStringList said;
    const auto of = [](const QStringList& ranks) { return static_cast<int>(ranks.size()); };
    if (!slow.empty())
        said.append(tr("Longer than the others takes rank %1.", nullptr, of(slow)).arg(slow.join(items::comma())));
    if (!early.empty())
        said.append(tr("Earlier than the others ended rank %1.", nullptr, of(early)).arg(early.join(items::comma())));
    if (!late.empty())
        said.append(tr("Behind the store is rank %1.", nullptr, of(late)).arg(late.join(items::comma())));
    if (!offline.empty())
        said.append(tr("Offline is rank %1: what it had not sent is not known.", nullptr, of(offline))
                        .arg(offline.join(items::comma())));
    if (!lossy.empty())
        said.append(tr("Samples were lost of rank %1: views draw them as gaps.", nullptr, of(lossy))
                        .arg(lossy.join(items::comma())));
    return said.join(QLatin1Char(' '));
}

int RankTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RankTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString RankTableModel::text(const Row& row, int column) const
{
    switch (column) {
    case RankColumn:
        return QString::number(row.rank.value);
    case TimesColumn:
        return row.isSlow ? tr("slow") : QString();
    case LastStepColumn:
        return row.lastStep.value < 0 ? QString() : items::formatStep(row.lastStep.value);
    case DroppedColumn:
        return items::formatStep(static_cast<qint64>(row.dropped));
    default:
        break;
    }
    if (!row.agent)
        return {};
    switch (column) {
    case LagColumn:
        return row.agent->saidBye && !row.agent->connected ? tr("ended")
            : !row.agent->connected                        ? tr("offline")
                                                           : tr("%1 s").arg(row.agent->lagSeconds, 0, 'f', 1);
    case SpoolColumn:
        return items::ConnectionsModel::text(*row.agent, items::ConnectionsModel::SpoolColumn);
    default:
        return items::ConnectionsModel::text(*row.agent, items::ConnectionsModel::RateColumn);
    }
}

bool RankTableModel::isLoud(const Row& row, int column) const
{
    switch (column) {
    case TimesColumn:
        return row.isSlow;
    case LastStepColumn:
        return !m_isLive
            && std::ranges::any_of(m_rows, [&](const Row& other) { return other.lastStep > row.lastStep; });
    case LagColumn:
        return row.agent && !(row.agent->saidBye && !row.agent->connected)
            && (!row.agent->connected || row.agent->lagSeconds > items::ConnectionsModel::kLateSeconds);
    case DroppedColumn:
        return row.dropped > 0;
    default:
        return false;
    }
}

QVariant RankTableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.column());
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter | (index.column() <= TimesColumn ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::AccessibleTextRole:
        return headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString() + QLatin1Char(' ')
            + text(row, index.column());
    case items::SeverityRole:
        return isLoud(row, index.column()) ? 1 : 0;
    default:
        return {};
    }
}

QVariant RankTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter | (section <= TimesColumn ? Qt::AlignLeft : Qt::AlignRight));
    if (role == Qt::ToolTipRole && section == LagColumn)
        return tr("from the end of a step in the training until its samples are stored");
    if (role == Qt::ToolTipRole && section == SpoolColumn)
        return tr("what waits on the agent's disk");
    if (role != Qt::DisplayRole)
        return {};
    const QString names[]
        = { tr("Rank"), tr("Step time"), tr("Last step"), tr("Lag"), tr("Dropped"), tr("Spool"), tr("Rate") };
    static_assert(std::size(names) == ColumnCount);
    return names[section];
}

RankTable::RankTable(ViewState* state, QWidget* parent)
    : QTableView(parent)
    , m_state(state)
    , m_model(new RankTableModel(this))
{
    setObjectName(QStringLiteral("rankTable"));
    setAccessibleName(tr("Ranks"));
    setModel(m_model);
    setItemDelegate(new RankDelegate(m_model, this));
    shapeTable(this, 24);
    setSelectionMode(SingleSelection);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    horizontalHeader()->setMinimumSectionSize(20);
    connect(state, &ViewState::runChanged, this, [this] { setTimes(nullptr); });
    for (const auto signal : { &ViewState::catalogChanged, &ViewState::agentsChanged })
        connect(state, signal, this, &RankTable::refill);
    connect(state, &ViewState::logAppended, this, [this, known = std::uint64_t { 0 }]() mutable {
        if (std::exchange(known, m_state->droppedSamples()) != m_state->droppedSamples())
            refill();
    });
    connect(state, &ViewState::rankChanged, this, &RankTable::showRank);
}

void RankTable::setTimes(std::shared_ptr<const RankTimes> times)
{
    m_times = std::move(times);
    refill();
}

void RankTable::refill()
{
    m_model->set(*m_state, m_times.get());
    fitColumns();
    showRank();
    Q_EMIT changed();
}

void RankTable::showRank()
{
    const auto& rows = m_model->rows();
    const auto row = std::find_if(
        rows.begin(), rows.end(), [this](const RankTableModel::Row& one) { return one.rank == m_state->rank(); });
    const QScopedValueRollback<bool> guard(m_isShowing, true);
    setCurrentIndex(row == rows.end() ? QModelIndex()
                                      : m_model->index(static_cast<int>(row - rows.begin()),
                                          currentIndex().column() > 0 ? currentIndex().column() : 0));
}

void RankTable::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTableView::currentChanged(current, previous);
    if (!m_isShowing && current.isValid())
        m_state->setRank(m_model->rows()[static_cast<std::size_t>(current.row())].rank);
}

void RankTable::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    fitColumns();
}

/// Every number is whole; the line of the times takes what is left. Where that is too little, what an agent sends goes
/// first.
void RankTable::fitColumns()
{
    using Model = RankTableModel;
    const bool hasTimes = std::any_of(
        m_model->rows().begin(), m_model->rows().end(), [](const Model::Row& row) { return !row.times.empty(); });
    int left = viewport()->width() - (hasTimes ? kLeastTimes : 0);
    for (const int column : { Model::RankColumn, Model::DroppedColumn, Model::LastStepColumn, Model::LagColumn,
             Model::SpoolColumn, Model::RateColumn }) {
        const bool isAlways = column == Model::RankColumn || column == Model::DroppedColumn;
        const int width = widthOf(column);
        const bool isShown = isAlways || (m_model->isLive() != (column == Model::LastStepColumn) && width <= left);
        setColumnHidden(column, !isShown);
        if (!isShown)
            continue;
        setColumnWidth(column, width);
        left -= width;
    }
    setColumnHidden(Model::TimesColumn, !hasTimes);
    if (hasTimes)
        setColumnWidth(Model::TimesColumn, kLeastTimes + std::max(0, left));
    else
        setColumnWidth(Model::DroppedColumn, columnWidth(Model::DroppedColumn) + std::max(0, left));
}

int RankTable::widthOf(int column) const
{
    QString longest;
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QString text = m_model->index(row, column).data().toString();
        if (text.size() > longest.size())
            longest = text;
    }
    const int cells = QFontMetrics(numberFont(12, 600)).horizontalAdvance(longest) + 2 * kInset + 2;
    return std::max(horizontalHeader()->sectionSizeHint(column), cells);
}

}
