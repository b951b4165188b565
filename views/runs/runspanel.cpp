// SPDX-License-Identifier: GPL-3.0-or-later
#include "runspanel.h"

#include <algorithm>
#include <utility>

#include <QAction>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QShortcut>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/common/themestyle.h>
#include <telltale/items/runsmodel.h>
#include <telltale/items/tooltiptext.h>

#include "panelhead.h"
#include "paneltree.h"
#include "rolelabel.h"
#include "runsdelegate.h"
#include "runsfilter.h"

namespace telltale::views {

using items::RunsModel;

namespace {
constexpr int kWidthOfAllColumns = 300;
constexpr int kShownBar = 3;
constexpr int kBesideWords = 13; ///< px of a cell, which RunsDelegate leaves
constexpr int kIndent = 12; ///< px: room for the line of a compared run

/// The run that is shown keeps its fill while the keys go through the list: what they are at has a frame. Several that
/// are selected to be compared have the fill, too, and the shown one a bar at its left; a frame while others are
/// compared.
class RunsTree : public PanelTree {
public:
    RunsTree(const QString& shown, const QStringList& compared, QWidget* parent)
        : PanelTree(parent)
        , m_shown(shown)
        , m_compared(compared)
    {
    }
    bool isFilled(const QModelIndex& index) const override
    {
        return isShown(index) || (areSeveral() && m_compared.isEmpty() && PanelTree::isFilled(index));
    }

protected:
    void drawRow(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        PanelTree::drawRow(painter, option, index);
        if (isShown(index) && areSeveral())
            painter->fillRect(
                QRect(option.rect.topLeft(), QSize(kShownBar, option.rect.height())), Theme::current().accent);
        if (!selectionModel()->isSelected(index) || isFilled(index))
            return;
        painter->setPen(Theme::current().accent);
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }

private:
    bool isShown(const QModelIndex& index) const
    {
        return !m_shown.isEmpty() && index.siblingAtColumn(0).data(items::KeyRole).toString() == m_shown;
    }
    bool areSeveral() const
    {
        const QItemSelection selected = selectionModel()->selection();
        return selected.size() > 1 || (selected.size() == 1 && selected.front().height() > 1);
    }

    const QString& m_shown;
    const QStringList& m_compared;
};
}

RunsPanel::RunsPanel(RunsModel* model, QWidget* parent)
    : QWidget(parent)
    , m_model(model)
    , m_proxy(new RunsFilter(model, this))
    , m_head(new PanelHead(tr("Runs"), this))
    , m_searchBox(new QWidget(this))
    , m_search(new QLineEdit(m_searchBox))
    , m_error(new RoleLabel(&Theme::criticalText, wordsFont(11), this))
    , m_tree(new RunsTree(m_currentId, m_compared, this))
{
    setObjectName(QStringLiteral("runsPanel"));

    QToolButton* search = m_searchButton = m_head->addButton(QStringLiteral("search"), tr("Search runs"));
    search->setCheckable(true);
    m_compare = m_head->addButton(QStringLiteral("compare"), tr("Compare the selected runs (Ctrl+click selects more)"));
    m_compare->setCheckable(true);
    m_compare->setObjectName(QStringLiteral("runsCompare"));
    QToolButton* open = m_open = m_head->addButton(QStringLiteral("folder"), tr("Open a run"));
    QToolButton* importButton = m_head->addButton(QStringLiteral("imp"), tr("Import a run: keep a copy here"));
    importButton->setObjectName(QStringLiteral("runsImport"));

    m_search->setObjectName(QStringLiteral("runsSearch"));
    m_search->setPlaceholderText(tr("Part of a name, or tag:x"));
    m_search->setToolTip(items::toolTipText(tr("All words hold. Of the name: gpt, gpt-*, /^gpt/\n"
                                               "tag:base – it has this tag\n"
                                               "note:\"warm up\" – its note says so\n"
                                               "config:lr<=1e-4 – lr in its config; also = != < > >=\n"
                                               "incident:critical – it has one; also warning, notice\n"
                                               "state:failed,lost – it is in one of these states\n"
                                               "since:7d until:2026-11-24 – it began within these")));
    m_search->setAccessibleName(tr("Search runs"));
    m_search->setClearButtonEnabled(true);
    auto* field = new QVBoxLayout(m_searchBox); // margins of its own would not hold the button that clears it
    field->setContentsMargins(8, 6, 8, 6);
    field->addWidget(m_search);
    m_searchBox->hide();
    m_error->setObjectName(QStringLiteral("runsSearchError"));
    m_error->setWordWrap(true);
    m_error->setContentsMargins(12, 0, 12, 4);
    m_error->asData()->hide();

    m_tree->setObjectName(QStringLiteral("runsTree"));
    m_tree->setAccessibleName(tr("Runs"));
    m_tree->setModel(m_proxy);
    m_tree->setItemDelegate(new RunsDelegate(m_tree));
    m_tree->setEmptyText(tr("Live and archived runs appear here."));
    m_tree->setUnmatchedText(tr("No run matches."));
    m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    m_tree->setIndentation(kIndent);
    QHeaderView* header = m_tree->header();
    header->setProperty(kTightHeader, true); // the names need the room
    header->setStretchLastSection(false);
    header->setSectionResizeMode(RunsModel::NameColumn, QHeaderView::Stretch);
    // As wide as their words: the names have the rest.
    for (const auto& [column, widest] :
        { std::pair(RunsModel::RanksColumn, "0000"), std::pair(RunsModel::StepColumn, "000 000"),
            std::pair(RunsModel::SizeColumn, "00.0 MB"), std::pair(RunsModel::StartedColumn, "0000-00") }) {
        const int words = QFontMetrics(numberFont(12)).horizontalAdvance(QLatin1String(widest));
        header->resizeSection(column, std::max(header->sectionSizeHint(column), words + kBesideWords));
    }
    header->moveSection(RunsModel::StartedColumn, RunsModel::RanksColumn);
    header->hideSection(RunsModel::SizeColumn);
    header->hideSection(RunsModel::RanksColumn);
    m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers); // by the command, and its key
    header->setContextMenuPolicy(Qt::CustomContextMenu);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_searchBox);
    layout->addWidget(m_error);
    layout->addWidget(m_tree);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    m_tree->keepRowsWhole();
    connect(m_tree, &PanelTree::rowsFitted, this, &RunsPanel::showCurrent);
    setFocusProxy(m_tree);
    setTabOrder(m_tree, m_search); // as in ModulesPanel

    connect(search, &QToolButton::toggled, this, [this](bool on) {
        m_searchBox->setVisible(on);
        on ? m_search->setFocus() : m_search->clear();
    });
    auto* away = new QShortcut(Qt::Key_Escape, m_search);
    away->setContext(Qt::WidgetShortcut);
    connect(away, &QShortcut::activated, this, [this, search] {
        m_search->clear();
        m_searchBox->hide();
        search->setChecked(false);
        m_tree->setFocus();
    });
    connect(open, &QToolButton::clicked, this, &RunsPanel::openWanted);
    connect(importButton, &QToolButton::clicked, this, &RunsPanel::importWanted);
    connect(m_compare, &QToolButton::clicked, this, [this](bool on) {
        if (on)
            compareSelected();
        else
            Q_EMIT endComparisonWanted();
        updateCompare(); // it is pressed while there is a comparison, not for having been clicked
    });
    connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPanel::selectionChanged);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, &RunsPanel::highlightChanged);
    selectionChanged();
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_error->setText(m_proxy->setLine(text));
        m_error->setVisible(!m_error->text().isEmpty());
        refresh();
        if (!m_currentId.isEmpty() && selectedIds().isEmpty())
            setCurrentRun(m_currentId); // it was among what the search hid
    });
    connect(m_tree, &QTreeView::activated, this, &RunsPanel::activate);
    connect(m_tree, &QTreeView::collapsed, this,
        [this](const QModelIndex& index) { m_closed.insert(index.data(items::HeadingRole).toString()); });
    connect(m_tree, &QTreeView::expanded, this,
        [this](const QModelIndex& index) { m_closed.erase(index.data(items::HeadingRole).toString()); });
    connect(m_tree, &QTreeView::clicked, this, [this](const QModelIndex& index) {
        const qsizetype count = selectedIds().size();
        if (count == 1) // a second one is selected to compare, not to look at
            activate(index);
        else if (count == 0 && !m_currentId.isEmpty())
            setCurrentRun(m_currentId); // a heading does not take the mark of the run that is shown
    });
    connect(m_tree, &QWidget::customContextMenuRequested, this, &RunsPanel::showMenu);
    connect(header, &QWidget::customContextMenuRequested, this, &RunsPanel::showHeaderMenu);
    // Not while the proxy is at it: a row that is made current then may be of a branch that it is still building.
    auto* later = new QTimer(this);
    later->setSingleShot(true);
    later->setInterval(0);
    connect(later, &QTimer::timeout, this, [this] {
        refresh();
        if (m_isCurrentSeen)
            showCurrent(); // what has come may have moved it away
    });
    const auto look = [this] {
        m_isCurrentSeen = m_tree->viewport()->rect().intersects(m_tree->visualRect(m_tree->currentIndex()));
    };
    connect(m_tree->verticalScrollBar(), &QScrollBar::actionTriggered, this, look, Qt::QueuedConnection);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, [this] { m_isCurrentSeen = true; });
    connect(m_proxy, &QAbstractItemModel::rowsInserted, later, qOverload<>(&QTimer::start));
    connect(m_proxy, &QAbstractItemModel::rowsRemoved, later, qOverload<>(&QTimer::start));
    refresh();
}

bool RunsPanel::editName(const QString& id)
{
    const QModelIndex index = m_proxy->mapFromSource(m_model->indexOf(id));
    if (!index.isValid() || m_head->visibleRegion().isEmpty() || !index.flags().testFlag(Qt::ItemIsEditable))
        return false;
    m_tree->scrollTo(index);
    m_tree->edit(index);
    return true;
}

void RunsPanel::showSearch()
{
    m_searchBox->show();
    m_search->setFocus();
}

void RunsPanel::refresh()
{
    m_tree->setEmpty(m_model->isEmpty());
    for (QToolButton* button : { m_searchButton, m_compare, m_open }) // a first start offers to open in its middle
        button->setVisible(!m_model->isEmpty());
    for (int row = 0; row < m_proxy->rowCount(); ++row) {
        const QModelIndex heading = m_proxy->index(row, 0);
        m_tree->setExpanded(heading, !m_closed.contains(heading.data(items::HeadingRole).toString()));
    }
    if (!m_currentId.isEmpty() && !m_tree->currentIndex().isValid())
        setCurrentRun(m_currentId);
}

void RunsPanel::setClosedHeadings(const QStringList& keys)
{
    m_closed = { keys.begin(), keys.end() };
    refresh();
}

void RunsPanel::setCurrentRun(const QString& id)
{
    m_currentId = id;
    markCompared();
    // Nothing is highlighted until a run that is not listed yet is: refresh() comes back here then.
    const QModelIndex index = m_proxy->mapFromSource(m_model->indexOf(id));
    if (m_tree->currentIndex().siblingAtColumn(0) == index)
        return;
    // Going there would open the heading.
    m_tree->setAutoScroll(!m_closed.contains(index.parent().data(items::HeadingRole).toString()));
    m_tree->setCurrentIndex(index);
    m_tree->setAutoScroll(true);
}

QStringList RunsPanel::selectedIds() const
{
    QStringList ids;
    for (const QModelIndex& index : m_tree->selectionModel()->selectedRows()) {
        if (const QString id = index.data(items::KeyRole).toString(); !id.isEmpty())
            ids.append(id);
    }
    return ids;
}

void RunsPanel::selectionChanged()
{
    const QStringList ids = selectedIds();
    m_tree->viewport()->update(); // also of a row that was selected before and no longer is the only one
    updateCompare();
    Q_EMIT highlightChanged();
    Q_EMIT runsSelected(ids);
}

void RunsPanel::setCompared(const QStringList& ids)
{
    m_compared = ids;
    markCompared();
    updateCompare();
}

void RunsPanel::markCompared()
{
    m_proxy->setCompared(m_compared.isEmpty() ? QStringList() : QStringList { m_currentId } + m_compared);
    m_tree->viewport()->update(); // the lines stand left of what the model's signals have repainted
}

void RunsPanel::updateCompare()
{
    const bool isComparing = !m_compared.isEmpty();
    m_compare->setEnabled(isComparing || selectedIds().size() > 1);
    m_compare->setChecked(isComparing);
    m_compare->setToolTip(isComparing ? tr("End the comparison (“Choose runs” in the Compare view adds others)")
                                      : tr("Compare the selected runs (Ctrl+click selects more)"));
    m_compare->setAccessibleName(m_compare->toolTip());
}

void RunsPanel::compareSelected()
{
    QStringList ids = selectedIds();
    if (ids.size() < 2)
        return;
    if (const auto shown = ids.indexOf(m_currentId); shown > 0)
        ids.move(shown, 0);
    const QString shown = ids.takeFirst();
    Q_EMIT compareWanted(shown, ids);
}

QString RunsPanel::highlightedId() const
{
    const QModelIndex index = m_tree->currentIndex().siblingAtColumn(0);
    // The list itself has no region of its own: its rows cover it.
    const bool isHighlighted = m_tree->selectionModel()->isSelected(index) && !m_head->visibleRegion().isEmpty();
    return isHighlighted ? index.data(items::KeyRole).toString() : QString();
}

QStringList RunsPanel::highlightedIds() const
{
    return m_head->visibleRegion().isEmpty() ? QStringList() : selectedIds();
}

void RunsPanel::activate(const QModelIndex& index)
{
    const QString id = index.siblingAtColumn(0).data(items::KeyRole).toString();
    if (!id.isEmpty())
        Q_EMIT runActivated(id);
}

void RunsPanel::showMenu(const QPoint& position)
{
    const QModelIndex index = m_tree->indexAt(position);
    const QString id = index.siblingAtColumn(0).data(items::KeyRole).toString();
    QMenu menu(this);
    if (id.isEmpty()) {
        menu.addActions(m_listActions);
        menu.exec(m_tree->viewport()->mapToGlobal(position));
        return;
    }
    menu.addAction(tr("Open"), this, [this, id] { Q_EMIT runActivated(id); });
    menu.addAction(tr("Open at its first non-finite value"), this, [this, id] { Q_EMIT firstNonFiniteWanted(id); });
    if (selectedIds().size() > 1)
        menu.addAction(tr("Compare these"), this, &RunsPanel::compareSelected);
    else if (!m_currentId.isEmpty() && id != m_currentId)
        menu.addAction(
            tr("Compare with the run shown"), this, [this, id] { Q_EMIT compareWanted(m_currentId, { id }); });
    menu.addSeparator();
    menu.addActions(m_runActions);
    menu.addSeparator();
    menu.addActions(m_listActions);
    const QAction* chosen = menu.exec(m_tree->viewport()->mapToGlobal(position));
    if (chosen == nullptr && selectedIds().size() < 2 && !m_currentId.isEmpty())
        setCurrentRun(m_currentId); // the click has highlighted what nobody opened
}

void RunsPanel::showHeaderMenu(const QPoint& position)
{
    QHeaderView* header = m_tree->header();
    QMenu menu(this);
    for (int column = RunsModel::RanksColumn; column < RunsModel::ColumnCount; ++column) {
        QAction* action = menu.addAction(m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
        action->setCheckable(true);
        action->setChecked(!header->isSectionHidden(column));
        connect(action, &QAction::toggled, this, [this, header, column](bool on) {
            m_columnsChosen = true;
            header->setSectionHidden(column, !on);
        });
    }
    menu.addSeparator();
    using GroupBy = RunsModel::GroupBy;
    for (const auto& [by, text] : { std::pair(GroupBy::Folder, tr("Group by folder")),
             std::pair(GroupBy::Name, tr("Group by name")), std::pair(GroupBy::Tag, tr("Group by tag")) }) {
        QAction* action = menu.addAction(text, this, [this, by = by] { m_model->setGroupBy(by); });
        action->setCheckable(true);
        action->setChecked(m_model->groupBy() == by);
    }
    menu.exec(header->mapToGlobal(position));
}

/// The run that is shown stays in sight; under a heading that the user closed it has no place.
void RunsPanel::showCurrent()
{
    if (const QModelIndex shown = m_tree->currentIndex(); m_tree->isExpanded(shown.parent())) {
        m_tree->scrollTo(shown);
        QScrollBar* bar = m_tree->verticalScrollBar();
        const int row = bar->singleStep();
        bar->setValue((bar->value() + row - 1) / row * row); // scrollTo() leaves a pixel below
    }
    m_isCurrentSeen = true;
}

void RunsPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    QTimer::singleShot(0, this, &RunsPanel::showCurrent); // when its rows have their places
}

void RunsPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    showCurrent();
    // What a run is called goes before how far it came.
    if (!m_columnsChosen)
        m_tree->header()->setSectionHidden(RunsModel::StepColumn, width() < kWidthOfAllColumns);
}

}
