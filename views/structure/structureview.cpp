// SPDX-License-Identifier: GPL-3.0-or-later
#include "structureview.h"

#include <algorithm>
#include <optional>

#include <QHeaderView>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>

#include <telltale/common/csv.h>
#include <telltale/common/onerunnote.h>
#include <telltale/common/scrolled.h>
#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/moduletree.h>
#include <telltale/runs/modulerecords.h>
#include <telltale/runs/moduleselection.h>
#include <telltale/runs/paneltree.h>

#include "modulecard.h"

namespace telltale::views {
namespace {

constexpr int kNarrow = 960; ///< below it the card stands under the outline
constexpr int kManyRows = 60; ///< an outline with more is opened as far as its blocks
constexpr int kLeastShape = 96; ///< of the column, two dimensions
constexpr int kLeastName = 150; ///< what longer shapes leave to the modules' column

}

StructureView::StructureView(const ViewContext& context, QWidget* parent)
    : DataView(context, parent)
    , m_bar(new ViewBar(this))
    , m_split(new QSplitter(Qt::Horizontal, this))
    , m_tree(new PanelTree)
    , m_card(new ModuleCard)
    , m_model(new StructureModel(this))
    , m_filter(new StructureFilter(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_split, 1);
    m_caption = m_bar->addTitle(tr("Structure"));
    m_bar->addStretch();
    addOneRunNote(m_bar, context.state);
    m_filter->setSourceModel(m_model);
    m_tree->setModel(m_filter);
    m_tree->setObjectName(QStringLiteral("structureTree"));
    m_tree->setAccessibleName(tr("Structure of the model"));
    m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setMinimumSectionSize(56);
    m_tree->setTextElideMode(Qt::ElideRight);
    constexpr int kWidths[] = { 210, 110, kLeastShape, 84, 72, 60, 72 };
    static_assert(std::size(kWidths) == StructureModel::ColumnCount);
    for (int column = 0; column < StructureModel::ColumnCount; ++column)
        m_tree->setColumnWidth(column, std::max(kWidths[column], m_tree->header()->sectionSizeHint(column)));
    m_tree->header()->setSectionResizeMode(StructureModel::NameColumn, QHeaderView::Stretch);
    auto* scroll = scrolled(m_card);
    m_card->setMinimumWidth(1); // a long word is broken: there is nothing at the right to scroll to
    m_card->setBackgroundRole(QPalette::Base);
    m_card->setAutoFillBackground(true);
    m_card->setWritable(context.steering != nullptr && !context.steering->isMirror());
    m_split->addWidget(m_tree);
    m_split->addWidget(scroll);
    m_split->setStretchFactor(0, 1);
    m_split->setStretchFactor(1, 0);
    m_split->setSizes({ 720, 280 });
    m_split->setChildrenCollapsible(false);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setFocusProxy(m_tree);
    connect(m_split, &QSplitter::splitterMoved, this, &StructureView::fitShapes);
    connectState();
    troubleChanged();
}

void StructureView::connectState()
{
    ViewState* state = context().state;
    connect(state, &ViewState::runChanged, this, [this] {
        m_areFactsKnown = false;
        m_facts.reset();
        m_last = {};
        m_model->set(nullptr);
        troubleChanged();
        askSoon(Urgency::Now);
    });
    for (const auto signal : { &ViewState::blobsArrived, &ViewState::catalogChanged }) {
        connect(state, signal, this, [this] {
            m_areFactsKnown = false;
            askSoon(Urgency::WhenIdle);
        });
    }
    connect(state, &ViewState::moduleFilterChanged, this, [this, state] {
        m_filter->setPattern(state->moduleFilter());
        expand();
    });
    connect(state, &ViewState::selectionChanged, this, &StructureView::followSelection);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        [this](const QModelIndex& index) { chooseRow(index); });
    for (const auto signal : { &QTreeView::collapsed, &QTreeView::expanded })
        connect(m_tree, signal, this, [this] { m_isFoldedByHand = m_isFoldedByHand || !m_isChoosing; });
    connect(m_card, &ModuleCard::additionWanted, this, [this](const QString& pointer, const QString& value) {
        if (context().steering != nullptr)
            Q_EMIT context().steering->draftWanted(pointer, value);
    });
}

void StructureView::ask()
{
    if (!context().state->run())
        return;
    const auto* item = chosen();
    const QString name = item == nullptr ? QString() : QString::fromStdString(item->name);
    const bool isParameter = item != nullptr && item->isParameter;
    const bool areWanted = !m_areFactsKnown;
    m_areFactsKnown = true; // what comes while they are read is asked for again
    submitRead(
        [name, isParameter, areWanted](store::RunReader& reader, const series::CancelToken&) -> Expected<Answer> {
            Answer answer;
            if (areWanted) {
                auto facts = analysis::readStructure(reader);
                if (!facts)
                    return tl::unexpected(facts.error());
                answer.facts = std::make_shared<const analysis::StructureFacts>(std::move(*facts));
            }
            answer.name = name;
            const std::string own = name.isEmpty() ? std::string(items::kWholeModel.data()) : name.toStdString();
            const ModuleRecords records = readModuleRecords(reader, own, isParameter);
            answer.stack = QString::fromStdString(records.stack);
            answer.areStacksThere = records.isStackThere;
            return answer;
        },
        [this](const std::shared_ptr<const Answer>& answer) { take(*answer); });
}

void StructureView::take(const Answer& answer)
{
    m_last = answer;
    if (answer.facts) {
        const auto* before = chosen(); // of the facts that go
        const std::optional<QString> name
            = before == nullptr ? std::nullopt : std::optional(QString::fromStdString(before->name));
        m_facts = answer.facts;
        m_isChoosing = true;
        m_model->set(m_facts);
        m_isChoosing = false;
        expand();
        measureShapes();
        const QModelIndex shown = name ? m_filter->mapFromSource(m_model->indexOf(*name)) : QModelIndex();
        m_isChoosing = true;
        m_tree->setCurrentIndex(shown);
        m_isChoosing = false;
        troubleChanged();
        if (!shown.isValid())
            followSelection();
    }
    showCard();
}

/// Of all rows, those that are folded, too: the column does not move while the outline is read.
void StructureView::measureShapes()
{
    QStyleOptionViewItem option;
    option.initFrom(m_tree);
    option.widget = m_tree;
    qsizetype longest = 0;
    m_shapeWidth = 0;
    for (const analysis::StructureItem& item : m_facts->model.items()) {
        const qsizetype length = item.isParameter ? shapeText(item.shape).size() : 0;
        if (length <= longest)
            continue;
        longest = length; // in a font of one width
        const QModelIndex index = m_model->indexOf(QString::fromStdString(item.name));
        m_shapeWidth
            = m_tree->itemDelegate()->sizeHint(option, index.siblingAtColumn(StructureModel::ShapeColumn)).width();
    }
    fitShapes();
}

void StructureView::fitShapes()
{
    int room = m_tree->viewport()->width() - kLeastName;
    for (int column = 0; column < StructureModel::ColumnCount; ++column) {
        if (column != StructureModel::NameColumn && column != StructureModel::ShapeColumn)
            room -= m_tree->columnWidth(column);
    }
    m_tree->setColumnWidth(StructureModel::ShapeColumn, std::max(std::min(m_shapeWidth, room), kLeastShape));
}

void StructureView::expand()
{
    if (!m_facts)
        return;
    if (m_facts->model.items().size() <= kManyRows || !context().state->moduleFilter().isEmpty())
        m_tree->expandAll();
    else
        m_tree->expandToDepth(1);
    m_isFoldedByHand = false;
}

const analysis::StructureItem* StructureView::chosen() const
{
    return m_model->item(m_filter->mapToSource(m_tree->currentIndex()));
}

void StructureView::chooseRow(const QModelIndex& index)
{
    const QModelIndex own = m_filter->mapToSource(index);
    showCard();
    askSoon(Urgency::Now);
    const auto catalog = context().state->catalog();
    if (m_isChoosing || !own.isValid() || !catalog)
        return;
    // As in the list of modules, where something of it is collected.
    ModuleSelection selected(*catalog, context().state->kind());
    selected.add(m_model->namesBelow(own));
    auto [shown, omitted] = selected.keys();
    if (shown.empty())
        return;
    m_isChoosing = true;
    context().state->setSelection(std::move(shown), std::move(omitted));
    m_isChoosing = false;
}

void StructureView::followSelection()
{
    const auto& selection = context().state->selection();
    if (m_isChoosing || !m_facts)
        return;
    const QModelIndex own = selection.empty() ? QModelIndex() : m_model->indexOf(selection.front().name);
    const QModelIndex index = m_filter->mapFromSource(own);
    if (index == m_tree->currentIndex() || (own.isValid() && !index.isValid())) // which the filter hides
        return;
    m_isChoosing = true;
    m_tree->setCurrentIndex(index); // none: what is selected is no module
    m_isChoosing = false;
}

void StructureView::showCard()
{
    const auto* item = chosen();
    if (item == nullptr) {
        m_card->showNothing(
            m_model->rowCount() > 0 ? tr("Choose a module to see what is collected of it.") : QString());
        return;
    }
    m_card->show(*item, m_model->kindsOf(*item), analysis::additionsFor(m_facts->config, *item));
    if (m_last.name == QString::fromStdString(item->name))
        m_card->setStack(m_last.stack, m_last.areStacksThere);
}

/// Opens closed rows for a picture, level by level, as long as all rows have room; gives those that it opened. What the
/// user has folded stays as it is.
std::vector<QModelIndex> StructureView::openWhatFits()
{
    std::vector<QModelIndex> opened;
    const QModelIndex first = m_filter->index(0, 0);
    if (m_isFoldedByHand || !first.isValid())
        return opened;
    const int room = m_tree->viewport()->height() / std::max(1, m_tree->visualRect(first).height());
    int rows = 0;
    for (QModelIndex index = first; index.isValid() && rows <= room; index = m_tree->indexBelow(index))
        ++rows;
    const QSignalBlocker blocker(m_tree);
    std::vector<QModelIndex> places { QModelIndex() };
    for (std::size_t at = 0; at < places.size() && rows < room; ++at) { // each after all that are above it
        const QModelIndex index = places[at];
        const int below = m_filter->rowCount(index);
        const bool isClosed = index.isValid() && !m_tree->isExpanded(index);
        if (isClosed && (below == 0 || rows + below > room))
            continue;
        if (isClosed) {
            rows += below;
            m_tree->expand(index);
            opened.push_back(index);
        }
        for (int row = 0; row < below; ++row)
            places.push_back(m_filter->index(row, 0, index));
    }
    return opened;
}

/// Without what is there for mouse and keyboard alone.
void StructureView::paintPicture(QPainter& painter, QSize size)
{
    const std::vector<QModelIndex> opened = openWhatFits();
    const bool hadFocus = m_tree->hasFocus();
    m_tree->clearFocus();
    m_card->setPictured(true);
    DataView::paintPicture(painter, size);
    m_card->setPictured(false);
    if (hadFocus)
        m_tree->setFocus();
    const QSignalBlocker blocker(m_tree);
    for (const QModelIndex& index : opened)
        m_tree->collapse(index);
}

QString StructureView::emptyText() const
{
    if (!trouble().isEmpty())
        return trouble();
    if (!context().state->run())
        return tr("Open a run, or connect a training job, to see its model.");
    return tr("This run has no structure of its model: its agent sent none.");
}

void StructureView::troubleChanged()
{
    if (!trouble().isEmpty())
        m_areFactsKnown = false;
    m_tree->setEmptyText(emptyText());
    m_tree->setEmpty(m_model->rowCount() == 0);
    QString caption;
    if (m_facts && !m_facts->model.isEmpty()) {
        const analysis::StructureItem& root = m_facts->model.item(0);
        caption = tr("%1, %2 parameters, %3")
                      .arg(QString::fromStdString(root.type), elementsText(root.elements),
                          QString::fromStdString(root.dtype));
    }
    m_caption->setText(caption);
    showCard();
}

void StructureView::resizeEvent(QResizeEvent* event)
{
    DataView::resizeEvent(event);
    const Qt::Orientation wanted = width() < kNarrow ? Qt::Vertical : Qt::Horizontal;
    if (m_split->orientation() != wanted) {
        m_split->setOrientation(wanted);
        m_split->setStretchFactor(1, wanted == Qt::Horizontal ? 0 : 1); // neither takes all of what is lost
        m_split->setSizes(wanted == Qt::Horizontal ? QList<int> { 720, 280 } : QList<int> { 600, 400 });
    }
    fitShapes();
}

Expected<void> StructureView::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (const char* column :
        { "name", "type", "shape", "parameters", "trainable", "dtype", "device", "shared", "collected" })
        csv.text(QLatin1String(column));
    csv.endRow();
    const NamePattern pattern(context().state->moduleFilter().toStdString());
    for (std::size_t i = 0; m_facts && i < m_facts->model.items().size(); ++i) {
        const analysis::StructureItem& item = m_facts->model.items()[i];
        if (!pattern.matchesAll() && !pattern.matches(item.name))
            continue;
        QStringList kinds;
        for (const Kind kind : m_model->kindsOf(item))
            kinds.append(QString::fromUtf8(kindName(kind)));
        csv.text(QString::fromStdString(item.name))
            .text(item.isParameter ? QStringLiteral("parameter") : QString::fromStdString(item.type))
            .text(item.isParameter ? shapeText(item.shape) : QString())
            .integer(static_cast<qint64>(item.elements))
            .integer(static_cast<qint64>(item.trainable))
            .text(QString::fromStdString(item.dtype))
            .text(QString::fromStdString(item.device))
            .text(QString::fromStdString(item.shared))
            .text(kinds.join(u' '));
        csv.endRow();
    }
    return csv.finish();
}

}
