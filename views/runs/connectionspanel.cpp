// SPDX-License-Identifier: GPL-3.0-or-later
#include "connectionspanel.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <telltale/common/glyphs.h>
#include <telltale/common/tableshape.h>
#include <telltale/common/theme.h>
#include <telltale/items/connectionsmodel.h>

#include "joinfield.h"
#include "panelhead.h"
#include "rolelabel.h"

namespace telltale::views {

namespace {

using items::ConnectionsModel;

constexpr int kSortMark = 20; ///< room for the arrow of the sorted column
constexpr int kWishes[] = { 52, 140, 70, 76, 76, 84, 84, 90, 150, 160 }; ///< px of the columns
static_assert(std::size(kWishes) == ConnectionsModel::ColumnCount);
constexpr int kSign = 18; ///< the triangle before a problem

/// Numbers in the number font; what needs a look in the warning color and bold.
class CellDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const int insets = 100 - wordsOf(QRect(0, 0, 100, 1), index).width();
        const int words = QFontMetrics(fontOf(index)).horizontalAdvance(index.data().toString());
        return { words + insets + 1, QStyledItemDelegate::sizeHint(option, index).height() };
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        if (option.state.testFlag(QStyle::State_Selected))
            painter->fillRect(option.rect, theme.selection);
        painter->save();
        painter->setFont(fontOf(index));
        painter->setPen(isLoud(index) ? theme.warnText : theme.text);
        const QRect cell = wordsOf(option.rect, index);
        painter->drawText(cell, index.data(Qt::TextAlignmentRole).toInt(),
            painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, cell.width()));
        painter->restore();
    }

private:
    static bool isLoud(const QModelIndex& index) { return index.data(items::SeverityRole).toInt() > 0; }
    static QFont fontOf(const QModelIndex& index)
    {
        const bool isText
            = index.column() == ConnectionsModel::RunColumn || index.column() == ConnectionsModel::StateColumn;
        return isText ? wordsFont(12, isLoud(index) ? 500 : 400) : numberFont(12, isLoud(index) ? 600 : 400);
    }
};

}

ConnectionsPanel::ConnectionsPanel(QWidget* parent)
    : QWidget(parent)
    , m_head(new PanelHead(tr("Connections"), this))
    , m_join(new JoinField(this))
    , m_hint(new RoleLabel(&Theme::text3, wordsFont(11), this))
    , m_empty(new RoleLabel(tr("No agent has connected yet."), &Theme::text3, wordsFont(12), this))
    , m_table(new QTableView(this))
    , m_model(new ConnectionsModel(this))
{
    setObjectName(QStringLiteral("connectionsPanel"));
    auto* sorted = new QSortFilterProxyModel(this);
    sorted->setSourceModel(m_model);
    sorted->setSortRole(items::SortRole);
    m_table->setModel(sorted);
    m_table->setItemDelegate(new CellDelegate(m_table));
    m_table->setObjectName(QStringLiteral("connectionsTable"));
    m_table->setAccessibleName(tr("Agents"));
    shapeTable(m_table);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(ConnectionsModel::RankColumn, Qt::AscendingOrder);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->viewport()->installEventFilter(this);
    connect(m_table->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &ConnectionsPanel::fitColumns);
    m_hint->setWordWrap(true);
    m_empty->setAlignment(Qt::AlignCenter);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 8, 0, 0);
    layout->setSpacing(6);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(12, 0, 12, 0);
    top->setSpacing(4);
    m_join->setMaximumWidth(720);
    top->addWidget(m_join);
    top->addWidget(m_hint);
    layout->addLayout(top);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_empty, 1);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setConnections({});
}

bool ConnectionsPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        fitColumns();
    return QWidget::eventFilter(watched, event);
}

/// Where there is no room for all wishes, columns are only as wide as their words, the run's the last of them to give;
/// the last column has the rest.
void ConnectionsPanel::fitColumns()
{
    const QHeaderView* header = m_table->horizontalHeader();
    std::array<int, ConnectionsModel::ColumnCount> widths;
    int lacking = -m_table->viewport()->width();
    for (int column = 0; column < ConnectionsModel::ColumnCount; ++column) {
        const int title = header->sectionSizeHint(column) + kSortMark;
        lacking += widths[static_cast<std::size_t>(column)] = std::max(kWishes[column], title);
    }
    const auto words
        = [this](int column) { return static_cast<const QAbstractItemView*>(m_table)->sizeHintForColumn(column); };
    int& ofRun = widths[ConnectionsModel::RunColumn];
    const int longer = std::max(words(ConnectionsModel::RunColumn) - ofRun, 0);
    ofRun += longer;
    lacking += longer;
    std::array<int, ConnectionsModel::ColumnCount> order;
    std::iota(order.rbegin(), order.rend(), 0);
    std::stable_partition(order.begin(), order.end(), [](int column) { return column != ConnectionsModel::RunColumn; });
    for (const int column : order) {
        int& width = widths[static_cast<std::size_t>(column)];
        const int sign = column == header->sortIndicatorSection() ? kSortMark : 0;
        const int least = std::max(header->sectionSizeHint(column) + sign, words(column));
        const int given = std::clamp(lacking, 0, std::max(width - least, 0));
        m_table->setColumnWidth(column, width - given);
        lacking -= given;
    }
}

void ConnectionsPanel::setListening(const QString& joinString, const QString& problem)
{
    m_join->setJoinString(joinString);
    m_join->setVisible(!joinString.isEmpty());
    m_hasProblem = !problem.isEmpty();
    m_hint->setContentsMargins(m_hasProblem ? kSign : 0, 0, 0, 0);
    m_hint->setColor(problem.isEmpty() ? &Theme::text3 : &Theme::warnText);
    m_hint->setText(problem.isEmpty()
            ? tr("Set it as TELLTALE_JOIN in the environment of every rank. Copying takes the whole token.")
            : problem);
}

/// The sign of a problem, before its first line.
void ConnectionsPanel::paintEvent(QPaintEvent*)
{
    if (!m_hasProblem)
        return;
    QPainter painter(this);
    const double middle = m_hint->y() + m_hint->fontMetrics().height() / 2.0;
    glyphs::paintSeverity(painter, QPointF(m_hint->x() + 5.5, middle), 10, glyphs::Severity::Warning, Theme::current());
}

void ConnectionsPanel::setConnections(std::vector<ConnectionInfo> connections)
{
    const auto connected
        = std::count_if(connections.begin(), connections.end(), [](const ConnectionInfo& c) { return c.connected; });
    m_head->setHint(connections.empty() ? QString() : QString::number(connected));
    const bool isEmpty = connections.empty();
    const auto names = [this] {
        QStringList all;
        for (int row = 0; row < m_model->rowCount(); ++row)
            all.append(m_model->index(row, ConnectionsModel::RunColumn).data().toString());
        return all;
    };
    const QStringList before = names();
    m_model->set(std::move(connections)); // before it is shown, which is when the columns get their widths
    m_table->setVisible(!isEmpty);
    m_empty->setVisible(isEmpty);
    if (names() != before) // which may be longer
        fitColumns();
}

}
