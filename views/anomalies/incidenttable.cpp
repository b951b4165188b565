// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidenttable.h"

#include <algorithm>
#include <array>

#include <QHeaderView>
#include <QPainter>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>

#include <telltale/common/glyphs.h>
#include <telltale/common/labels.h>
#include <telltale/common/tableshape.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/items/incidentsmodel.h>

namespace telltale::views {

using items::IncidentsModel;

namespace {

/// The severity's shape before its word, numbers in their font, places in that of code; what is acknowledged is quiet.
class IncidentDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        const auto severity = static_cast<store::Severity>(index.data(items::SeverityRole).toInt());
        const bool isSelected = option.state.testFlag(QStyle::State_Selected);
        const bool isQuiet = index.data(items::StateRole).toBool() && !isSelected;
        painter->save();
        if (isSelected)
            painter->fillRect(option.rect, theme.selection);
        QRect cell = wordsOf(option.rect, index);
        painter->setFont(wordsFont(12));
        painter->setPen(isQuiet ? theme.text3 : theme.text);
        QString text = index.data().toString();
        switch (index.column()) {
        case IncidentsModel::SeverityColumn:
            glyphs::paintSeverity(
                *painter, QPointF(cell.left() + 5, cell.center().y() + 0.5), 10, glyphs::severityOf(severity), theme);
            cell.setLeft(cell.left() + 18);
            break;
        case IncidentsModel::StepColumn:
            text = formatStep(text.toLongLong());
            [[fallthrough]];
        case IncidentsModel::RankColumn:
        case IncidentsModel::FoldedColumn:
            painter->setFont(numberFont(12));
            break;
        case IncidentsModel::PlaceColumn:
            painter->setFont(codeFont(12));
            text = fitLabels({ text }, QFontMetricsF(painter->font()), cell.width()).front();
            break;
        case IncidentsModel::RuleColumn:
        case IncidentsModel::StateColumn:
            painter->setPen(isSelected ? theme.text : isQuiet ? theme.text3 : theme.text2);
            break;
        default:
            break;
        }
        painter->drawText(cell, index.data(Qt::TextAlignmentRole).toInt(),
            painter->fontMetrics().elidedText(text, Qt::ElideRight, cell.width()));
        painter->restore();
    }
};

constexpr int kWidths[] = { 96, 76, 60, 300, 200, 360, 70, 220 }; ///< at most, but for the sentence
static_assert(std::size(kWidths) == IncidentsModel::ColumnCount);

}

IncidentFilter::IncidentFilter(IncidentsModel* incidents, QObject* parent)
    : QSortFilterProxyModel(parent)
    , m_incidents(incidents)
{
    setSourceModel(incidents);
}

void IncidentFilter::set(store::Severity atLeast, bool isUnacknowledgedOnly)
{
    items::assertGuiThread();
    m_atLeast = atLeast;
    m_isUnacknowledgedOnly = isUnacknowledgedOnly;
    invalidate(); // at once: rows that are taken away in many pieces cost the square of their number
}

bool IncidentFilter::filterAcceptsRow(int row, const QModelIndex&) const
{
    const judge::Incident& incident = m_incidents->incident(row);
    return incident.first.severity >= m_atLeast && !(m_isUnacknowledgedOnly && incident.isAcknowledged);
}

IncidentTable::IncidentTable(ViewState* state, IncidentFilter* filter, QWidget* parent)
    : QTableView(parent)
    , m_state(state)
    , m_filter(filter)
{
    setObjectName(QStringLiteral("incidentTable"));
    setAccessibleName(tr("Incidents"));
    setModel(filter);
    setItemDelegate(new IncidentDelegate(this));
    shapeTable(this);
    setWordWrap(false);
    setSelectionMode(SingleSelection);
    QHeaderView* header = horizontalHeader();
    header->setMinimumSectionSize(40);
    for (int column = 0; column < IncidentsModel::ColumnCount; ++column)
        setColumnWidth(column, std::max(kWidths[column], header->sectionSizeHint(column)));

    connect(state, &ViewState::incidentChanged, this, &IncidentTable::takeIncident);
    m_fit.setSingleShot(true); // once for all rows that come together
    connect(&m_fit, &QTimer::timeout, this, &IncidentTable::fitColumns);
    const auto takeRows = [this] {
        m_fit.start();
        takeIncident();
    };
    for (const auto signal : { &QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved })
        connect(filter, signal, this, takeRows);
    connect(filter, &QAbstractItemModel::dataChanged, &m_fit, qOverload<>(&QTimer::start));
    connect(filter, &QAbstractItemModel::modelReset, this, takeRows);
    connect(filter, &QAbstractItemModel::layoutChanged, this, takeRows);
    // Also where the row is the current one already, and the cursor has gone elsewhere since.
    const auto go
        = [this](const QModelIndex& index) { m_state->goToIncident(index.data(items::KeyRole).toLongLong()); };
    connect(this, &QTableView::clicked, this, go);
    connect(this, &QTableView::activated, this, go);
    takeIncident();
}

void IncidentTable::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTableView::currentChanged(current, previous);
    if (!m_isTaking && current.isValid() && hasFocus())
        m_state->goToIncident(current.data(items::KeyRole).toLongLong());
}

/// A click below the rows chooses nothing: the card beside it goes on showing the incident.
QItemSelectionModel::SelectionFlags IncidentTable::selectionCommand(const QModelIndex& index, const QEvent* event) const
{
    return index.isValid() || m_isTaking ? QTableView::selectionCommand(index, event) : QItemSelectionModel::NoUpdate;
}

void IncidentTable::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    fitColumns();
}

/// The sentence gets what the others leave; those that cut their words well give way to it.
void IncidentTable::fitColumns()
{
    constexpr int kSentence = 120;
    // Of a place the end stays, which tells most; of a state what a person has said of it, which is said first.
    constexpr std::pair<int, int> kGiving[] { { IncidentsModel::PlaceColumn, 150 }, { IncidentsModel::RuleColumn, 88 },
        { IncidentsModel::StateColumn, 100 } };
    constexpr int kMeasured = 50; // rows
    setColumnHidden(IncidentsModel::FoldedColumn, false); // the heading of a hidden one is no wider than nothing
    std::array<int, IncidentsModel::ColumnCount> wish {};
    int room = viewport()->width() - kSentence;
    for (int column = 0; column < IncidentsModel::ColumnCount; ++column) {
        const bool isNumber = column == IncidentsModel::StepColumn || column == IncidentsModel::RankColumn
            || column == IncidentsModel::FoldedColumn;
        const QFontMetrics metrics(column == IncidentsModel::PlaceColumn ? codeFont(12)
                : isNumber                                               ? numberFont(12)
                                                                         : wordsFont(12));
        int words = 0;
        for (int row = 0; row < std::min(m_filter->rowCount(), kMeasured); ++row)
            words = std::max(words, metrics.horizontalAdvance(m_filter->index(row, column).data().toString()));
        words += column == IncidentsModel::SeverityColumn ? 42 : 20; // its sign
        const auto at = static_cast<std::size_t>(column);
        wish[at] = std::max(std::min(words, kWidths[column]), horizontalHeader()->sectionSizeHint(column));
        if (column == IncidentsModel::SentenceColumn)
            continue;
        setColumnWidth(column, wish[at]);
        room -= wish[at];
    }
    // How many were folded stands in the card, too.
    if (room < 0) {
        room += wish[IncidentsModel::FoldedColumn];
        setColumnHidden(IncidentsModel::FoldedColumn, true);
    }
    const int sentence = std::max(wish[IncidentsModel::SentenceColumn], kSentence);
    for (const auto& [column, least] : kGiving) {
        const int wished = wish[static_cast<std::size_t>(column)];
        const int given = std::clamp(sentence - (kSentence + room), 0, std::max(wished - least, 0));
        setColumnWidth(column, wished - given);
        room += given;
    }
    setColumnWidth(IncidentsModel::SentenceColumn, std::max(kSentence + room, 120));
}

void IncidentTable::takeIncident()
{
    const QScopedValueRollback<bool> guard(m_isTaking, true);
    const int row = m_state->incidents()->rowOf(m_state->incident());
    const QModelIndex index = row < 0 ? QModelIndex() : m_filter->mapFromSource(m_state->incidents()->index(row, 0));
    if (!index.isValid()) {
        clearSelection();
    } else if (index.row() != currentIndex().row() || !selectionModel()->isRowSelected(index.row())) {
        setCurrentIndex(index);
        selectRow(index.row());
    }
}

}
