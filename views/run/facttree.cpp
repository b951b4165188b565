// SPDX-License-Identifier: GPL-3.0-or-later
#include "facttree.h"

#include <algorithm>

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/columnfit.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/paneltree.h>

namespace telltale::views {
namespace {

constexpr int kNameWidth = 190;

}

FactTree::FactTree(QWidget* parent)
    : QWidget(parent)
    , m_model(new FactTreeModel(this))
    , m_proxy(new QSortFilterProxyModel(this))
    , m_filter(new QLineEdit(this))
    , m_tree(new PanelTree(this))
{
    m_proxy->setSourceModel(m_model);
    m_proxy->setRecursiveFilteringEnabled(true);
    m_proxy->setFilterKeyColumn(-1);
    m_proxy->setFilterRole(FactTreeModel::kExactRole);
    m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_filter->setObjectName(QStringLiteral("factFilter"));
    m_filter->setPlaceholderText(tr("Part of a name or a value"));
    m_filter->setAccessibleName(tr("Search hyperparameters and environment"));
    m_filter->setClearButtonEnabled(true);
    m_tree->setObjectName(QStringLiteral("factTree"));
    m_tree->setAccessibleName(tr("Hyperparameters and environment"));
    m_tree->setModel(m_proxy);
    m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_tree->setTextElideMode(Qt::ElideMiddle); // names of one group begin alike
    m_tree->header()->setStretchLastSection(true);
    m_tree->header()->resizeSection(FactTreeModel::NameColumn, kNameWidth);
    m_tree->installEventFilter(this);
    m_tree->viewport()->installEventFilter(this);
    connect(m_tree->header(), &QHeaderView::sectionResized, this, [this](int column) {
        m_isWidthChosen = m_isWidthChosen || (column == FactTreeModel::NameColumn && !m_isFitting);
    });
    setFocusProxy(m_tree);

    auto* head = new PanelHead(tr("Facts"), this);
    QToolButton* copyButton = head->addButton(QStringLiteral("copy"), tr("Copy the selected rows, or all"));
    auto* top = new QHBoxLayout;
    top->setContentsMargins(12, 6, 12, 6);
    top->addWidget(m_filter);
    setTabOrder(m_tree, m_filter); // as in ModulesPanel
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(head);
    layout->addLayout(top);
    layout->addWidget(m_tree, 1);
    connect(copyButton, &QToolButton::clicked, this, &FactTree::copy);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_proxy->setFilterFixedString(text);
        refresh();
    });
}

void FactTree::set(std::vector<FactTreeModel::Group> groups)
{
    items::assertGuiThread();
    m_model->set(std::move(groups));
    refresh();
}

void FactTree::setEmptyText(const QString& text)
{
    m_tree->setEmptyText(text);
}

void FactTree::refresh()
{
    m_tree->setEmpty(m_model->rowCount() == 0);
    m_tree->expandAll();
    for (int group = 0; group < m_proxy->rowCount(); ++group)
        m_tree->setFirstColumnSpanned(group, {}, true);
    fitNames();
}

/// Names get what the values leave, and half of the width in any case; the user's own width stays.
void FactTree::fitNames()
{
    if (m_isWidthChosen)
        return;
    const QScopedValueRollback fitting(m_isFitting, true);
    const int room = m_tree->viewport()->width();
    const QAbstractItemView& view = *m_tree;
    const int left = room - view.sizeHintForColumn(FactTreeModel::ValueColumn);
    const int least = std::clamp(left, 0, kNameWidth);
    const int most = std::max({ least, room / 2, left });
    m_tree->header()->resizeSection(
        FactTreeModel::NameColumn, std::clamp(fitToWords(*m_tree, FactTreeModel::NameColumn), least, most));
}

void FactTree::copy() const
{
    QStringList lines;
    const auto* chosen = m_tree->selectionModel();
    for (int group = 0; group < m_proxy->rowCount(); ++group) {
        const QModelIndex parent = m_proxy->index(group, 0);
        for (int row = 0; row < m_proxy->rowCount(parent); ++row) {
            const QModelIndex index = m_proxy->index(row, 0, parent);
            if (chosen->hasSelection() && !chosen->isRowSelected(row, parent))
                continue;
            lines.append(index.data(FactTreeModel::kExactRole).toString() + u'\t'
                + index.siblingAtColumn(1).data(FactTreeModel::kExactRole).toString());
        }
    }
    QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

bool FactTree::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        copy();
        return true;
    }
    if (event->type() == QEvent::Resize && watched == m_tree->viewport())
        fitNames();
    return QWidget::eventFilter(watched, event);
}

}
