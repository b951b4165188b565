// SPDX-License-Identifier: GPL-3.0-or-later
#include "modulespanel.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include <QHeaderView>
#include <QLineEdit>
#include <QPainter>
#include <QScopedValueRollback>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/analysis/worst.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/passorder.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/items/saidwords.h>
#include <telltale/store/rowsof.h>

#include "modulesdelegate.h"
#include "moduleselection.h"
#include "panelhead.h"
#include "paneltree.h"
#include "rolelabel.h"

namespace telltale::views {

using items::ModuleTreeModel;

namespace {

constexpr int kScanEveryMs = 2000; ///< worst values change slowly
constexpr int kFilterAfterMs = 60; ///< one answer a word, not one a letter
constexpr int kShowUpTo = 16; ///< rows that other views select, whose modules are opened
constexpr int kExpandUpTo = 400; ///< a filter that leaves this few opens the whole tree
constexpr int kGlyphRoom = 32; ///< px before the words of the filter

/// Says its own key while there is nothing in it.
class FilterField : public QLineEdit {
public:
    using QLineEdit::QLineEdit;

protected:
    void paintEvent(QPaintEvent* event) override
    {
        QLineEdit::paintEvent(event);
        const QString key = QStringLiteral("Ctrl+F");
        const int words = kGlyphRoom + fontMetrics().horizontalAdvance(placeholderText()) + 8;
        const int room = width() - 8 - QFontMetrics(wordsFont(11)).horizontalAdvance(key);
        if (!text().isEmpty() || hasFocus() || words > room)
            return;
        QPainter painter(this);
        painter.setFont(wordsFont(11));
        painter.setPen(Theme::current().text3);
        painter.drawText(rect().adjusted(0, 0, -8, 0), static_cast<int>(Qt::AlignRight | Qt::AlignVCenter), key);
    }
};

}

ModulesPanel::ModulesPanel(const ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_queryId(context.queries ? context.queries->newView() : 0)
    , m_model(new ModuleTreeModel(this))
    , m_head(new PanelHead(tr("Modules"), this))
    , m_filterBox(new QWidget(this))
    , m_filter(new FilterField(m_filterBox))
    , m_error(new RoleLabel(&Theme::criticalText, wordsFont(11), this))
    , m_tree(new PanelTree(this))
    , m_scanPace(kScanEveryMs)
{
    setObjectName(QStringLiteral("modulesPanel"));
    m_worstFirst = m_head->addButton(QStringLiteral("sort"), tr("The worst first"));
    m_worstFirst->setObjectName(QStringLiteral("modulesWorstFirst"));
    m_worstFirst->setCheckable(true);
    QToolButton* collapse = m_collapse = m_head->addButton(QStringLiteral("stack"), tr("Close all branches"));

    m_filter->setObjectName(QStringLiteral("moduleFilter"));
    m_filter->setPlaceholderText(tr("text, glob* or /regex/"));
    m_filter->setAccessibleName(tr("Filter modules"));
    m_filter->setToolTip(tr("Filter modules (Ctrl+F)"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setFont(wordsFont(12));
    m_filter->addAction(icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
    m_error->setWordWrap(true);
    m_error->setContentsMargins(12, 0, 12, 4);
    m_error->asData()->hide();

    m_tree->setObjectName(QStringLiteral("modulesTree"));
    m_tree->setAccessibleName(tr("Modules"));
    m_tree->setModel(m_model);
    m_delegate = new ModulesDelegate(m_tree);
    m_tree->setItemDelegate(m_delegate);
    m_tree->setEmptyText(tr("The model's own hierarchy, with the worst value of each part."));
    m_tree->setUnmatchedText(tr("No module matches."));
    m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_tree->setDragEnabled(true);
    m_tree->setDragDropMode(QAbstractItemView::DragOnly);
    QHeaderView* header = m_tree->header();
    header->setStretchLastSection(false);
    header->setSectionResizeMode(ModuleTreeModel::ModuleColumn, QHeaderView::Stretch);
    header->resizeSection(
        ModuleTreeModel::WorstColumn, std::max(104, header->sectionSizeHint(ModuleTreeModel::WorstColumn)));

    auto* field = new QVBoxLayout(m_filterBox);
    field->setContentsMargins(8, 6, 8, 6);
    field->addWidget(m_filter);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_filterBox);
    layout->addWidget(m_error);
    layout->addWidget(m_tree);
    m_tree->keepRowsWhole();
    setFocusProxy(m_tree);
    // Tab comes to the panel, which hands it on: what stands before its proxy in the chain would be passed over.
    setTabOrder(m_tree, m_filter);

    m_filterTimer.setSingleShot(true);
    m_filterTimer.setInterval(kFilterAfterMs);
    connect(&m_filterTimer, &QTimer::timeout, this, &ModulesPanel::applyFilter);
    connect(&m_scanPace, &QTimer::timeout, this, &ModulesPanel::scan);
    connect(m_filter, &QLineEdit::textEdited, this, [this] { m_filterTimer.start(); });
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        if (text.isEmpty())
            m_filterTimer.start();
    });
    connect(m_filter, &QLineEdit::returnPressed, this, [this] {
        applyFilter();
        m_tree->setFocus();
    });
    connect(collapse, &QToolButton::clicked, m_tree, &QTreeView::collapseAll);
    connect(m_worstFirst, &QToolButton::toggled, m_model, &ModuleTreeModel::sortByWorst);
    header->setSectionsClickable(true);
    connect(header, &QHeaderView::sectionClicked, this, [this](int column) {
        m_worstFirst->setChecked(column == ModuleTreeModel::WorstColumn && !m_worstFirst->isChecked());
    });
    connect(
        m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this, &ModulesPanel::treeSelectionChanged);

    ViewState* state = context.state;
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] { m_toOpen = 0; });
    connect(m_model, &ModuleTreeModel::grown, this, &ModulesPanel::treeGrown);
    connect(state, &ViewState::catalogChanged, this, &ModulesPanel::catalogChanged);
    connect(state, &ViewState::runChanged, this, &ModulesPanel::catalogChanged);
    connect(state, &ViewState::selectionChanged, this, &ModulesPanel::showSelection);
    connect(state, &ViewState::moduleFilterChanged, this, [this] {
        if (m_filter->text() != m_context.state->moduleFilter()) {
            m_filter->setText(m_context.state->moduleFilter());
            applyFilter();
        }
    });
    for (const auto signal : { &ViewState::runChanged, &ViewState::kindChanged, &ViewState::statChanged }) {
        connect(state, signal, this, [this] { // what is shown is of something else
            m_scanPace.now();
            updateHint();
        });
    }
    connect(state, &ViewState::dataArrived, &m_scanPace, &ScanPace::soon);
    connect(state, &ViewState::incidentChanged, this, &ModulesPanel::flagSource);
    connect(state->incidents(), &items::IncidentsModel::changed, this, &ModulesPanel::flagSource);
    catalogChanged();
}

ModulesPanel::~ModulesPanel()
{
    if (m_context.queries)
        m_context.queries->cancel(m_queryId);
}

void ModulesPanel::focusFilter()
{
    m_filter->setFocus(Qt::ShortcutFocusReason);
    m_filter->selectAll();
}

void ModulesPanel::goTo(const QString& module)
{
    if (!m_model->indexOf(module).isValid() && !m_filter->text().isEmpty()) {
        m_filter->clear();
        applyFilter();
    }
    const QModelIndex index = m_model->indexOf(module);
    if (!index.isValid())
        return;
    m_tree->setCurrentIndex(index);
    m_tree->scrollTo(index);
}

void ModulesPanel::catalogChanged()
{
    const bool hasRun = m_context.state->run() || m_context.state->catalog();
    for (QWidget* part : std::initializer_list<QWidget*> { m_worstFirst, m_collapse, m_filterBox })
        part->setVisible(hasRun);
    {
        const QScopedValueRollback guard(m_ownChange, true);
        m_model->setCatalog(m_context.state->catalog());
    }
    showSelection();
    m_scanPace.soon();
}

void ModulesPanel::treeGrown()
{
    m_tree->setEmpty(m_model->tree().moduleCount() == 0);
    for (; m_toOpen && *m_toOpen < m_model->rowCount(); ++*m_toOpen) {
        const QModelIndex top = m_model->index(*m_toOpen, 0);
        if (m_model->hasChildren(m_model->index(0, 0, top))) // "layers", not an embedding with its weight
            m_tree->expand(top);
    }
    if (m_model->tree().isWhole()) {
        if (m_model->tree().moduleCount() > 0)
            m_toOpen.reset();
        showSelection();
    }
    updateHint();
}

void ModulesPanel::applyFilter()
{
    m_filterTimer.stop();
    {
        const QScopedValueRollback guard(m_ownChange, true);
        m_model->setFilter(m_filter->text());
    }
    m_error->setText(
        tr("The regular expression between the slashes cannot be read: %1. Mend it, or remove the slashes to "
           "look for the text itself.")
            .arg(items::saidwords::inLanguage(m_model->filterError())));
    m_error->setVisible(!m_model->filterError().isEmpty());
    if (!m_filter->text().isEmpty() && m_model->tree().matchCount() <= kExpandUpTo)
        m_tree->expandAll();
    m_context.state->setModuleFilter(m_filter->text());
    updateHint();
}

void ModulesPanel::updateHint()
{
    const int all = m_model->tree().moduleCount(), shown = m_model->tree().matchCount();
    const QString count = shown == all ? formatStep(all) : tr("%1 of %2").arg(formatStep(shown), formatStep(all));
    m_head->setHint(all == 0 ? QString() : count);
    m_head->setDetail(all == 0 ? QString() : kindText(m_context.state->kind())); // of it are the worst values
}

void ModulesPanel::treeSelectionChanged()
{
    const auto catalog = m_context.state->catalog();
    if (m_ownChange || !catalog)
        return;
    ModuleSelection selected(*catalog, m_context.state->kind());
    for (const QModelIndex& index : m_tree->selectionModel()->selectedRows())
        selected.add(m_model->namesBelow(index));
    auto [shown, omitted] = selected.keys();
    const QScopedValueRollback guard(m_ownChange, true);
    m_context.state->setSelection(std::move(shown), std::move(omitted));
}

void ModulesPanel::showSelection()
{
    if (m_ownChange)
        return;
    const QScopedValueRollback guard(m_ownChange, true);
    QItemSelection selection;
    QModelIndex first;
    for (const ModuleKey& key : m_context.state->selection()) {
        const QModelIndex index = m_model->indexOf(key.name);
        if (!index.isValid())
            continue;
        selection.select(index, index);
        if (!first.isValid())
            first = index;
    }
    m_tree->selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    // What is selected is seen, as long as that does not open the whole tree.
    const QModelIndexList rows = m_tree->selectionModel()->selectedRows();
    for (const QModelIndex& row : rows.size() <= kShowUpTo ? rows : QModelIndexList()) {
        for (QModelIndex above = row.parent(); above.isValid(); above = above.parent())
            m_tree->expand(above);
    }
    if (first.isValid()) {
        m_tree->selectionModel()->setCurrentIndex(first, QItemSelectionModel::NoUpdate);
        m_tree->scrollTo(first);
    }
}

void ModulesPanel::flagSource()
{
    const judge::Incident* incident = m_context.state->incidents()->find(m_context.state->incident());
    m_delegate->setSource(incident ? QString::fromStdString(incident->first.name) : QString());
    m_tree->viewport()->update();
}

void ModulesPanel::scan()
{
    const ViewState* state = m_context.state;
    const auto catalog = state->catalog();
    if (!catalog || !m_context.queries || !state->run())
        return;
    m_scanPace.began();
    m_context.queries->submit(m_queryId, state->run(),
        [this, catalog, kind = state->kind(), stat = state->stat(), range = state->fullRange()](
            Expected<store::RunReader*> reader, const series::CancelToken& cancel) -> store::QueryPool::Delivery {
            if (!reader)
                return {}; // the views say why a run cannot be read
            auto worst = analysis::findWorst(**reader, store::rowsOf(*catalog), kind, stat, range, cancel);
            if (!worst)
                return {};
            auto ofNames = analysis::worstOfNames(store::rowsOf(*catalog), *worst);
            const auto isBroken = [](const analysis::WorstValue& one) { return one.isNonFinite(); };
            if (std::any_of(ofNames.begin(), ofNames.end(), isBroken)) {
                // Where it began says no kind alone. One step before the run: it may be broken from the start.
                const auto origin = analysis::findOnset(**reader, store::rowsOf(*catalog),
                    quantitiesInPassOrder(*catalog), { Step { range.first.value - 1 }, range.last }, true, cancel);
                if (origin && origin->row->kind != Kind::Scalar)
                    analysis::markOrigin(store::rowsOf(*catalog), *origin, ofNames);
            }
            return [this, catalog, found = std::move(ofNames)]() mutable {
                const auto shown = m_context.state->catalog();
                if (!shown || shown->runKey != catalog->runKey || shown->storeId != catalog->storeId)
                    return;
                m_scanPace.ended();
                m_model->setWorst(std::move(found));
                m_tree->viewport()->update();
            };
        });
}

}
