// SPDX-License-Identifier: GPL-3.0-or-later
#include "trashdialog.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <QDateTime>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPointer>
#include <QPushButton>
#include <QShortcut>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/roles.h>
#include <telltale/items/saidwords.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/paneltree.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/runs/runsdelegate.h>
#include <telltale/store/folders.h>
#include <telltale/store/runfiles.h>

#include "jobthread.h"

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

namespace {

enum Column { NameColumn, DeletedColumn, FolderColumn, SizeColumn, ColumnCount };

std::uint64_t bytesOf(const std::vector<store::TrashedRun>& runs)
{
    return std::accumulate(runs.begin(), runs.end(), std::uint64_t { 0 },
        [](std::uint64_t sum, const store::TrashedRun& one) { return sum + one.run.fileBytes; });
}

}

TrashDialog::TrashDialog(std::string dataDir, JobThread* jobs, Confirm confirm, QWidget* parent)
    : QDialog(parent)
    , m_dataDir(std::move(dataDir))
    , m_jobs(jobs)
    , m_confirm(std::move(confirm))
    , m_model(new QStandardItemModel(0, ColumnCount, this))
    , m_tree(new views::PanelTree(this))
    , m_all(new RoleLabel(&Theme::text2, views::wordsFont(12), this))
    , m_said(new RoleLabel(&Theme::criticalText, views::wordsFont(12), this))
{
    makeWidgets();
    connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this, &TrashDialog::fit);
    connect(m_restore, &QPushButton::clicked, this, [this] {
        work(
            [](const store::TrashedRun& run) -> Expected<void> {
                const auto restored = store::restoreRun(run);
                return restored ? Expected<void>() : tl::unexpected(restored.error());
            },
            true);
    });
    connect(m_tree, &QTreeView::activated, m_restore, &QPushButton::click);
    connect(m_erase, &QPushButton::clicked, this, &TrashDialog::eraseSelected);
    connect(new QShortcut(Qt::Key_Delete, m_tree, nullptr, nullptr, Qt::WidgetShortcut), &QShortcut::activated, m_erase,
        &QPushButton::click);
    read();
}

void TrashDialog::makeWidgets()
{
    setObjectName(QStringLiteral("trashDialog"));
    setWindowTitle(tr("Trash"));
    m_model->setHorizontalHeaderLabels({ tr("Name"), tr("Deleted"), tr("Was in"), tr("Size") });
    for (int column = DeletedColumn; column < ColumnCount; ++column)
        m_model->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignVCenter | Qt::AlignRight);
    m_tree->setObjectName(QStringLiteral("trashTree"));
    m_tree->setAccessibleName(tr("Deleted runs"));
    m_tree->setModel(m_model);
    m_tree->setItemDelegate(new views::RunsDelegate(m_tree));
    m_tree->setRootIsDecorated(false);
    m_tree->setFrameShape(QFrame::StyledPanel);
    m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_tree->setEmptyText(tr("Reading the trash…"));
    QHeaderView* header = m_tree->header();
    header->setStretchLastSection(false);
    header->setSectionResizeMode(NameColumn, QHeaderView::Stretch);
    header->resizeSection(DeletedColumn, 130);
    header->resizeSection(FolderColumn, 150);
    header->resizeSection(SizeColumn, 80);
    for (RoleLabel* label : { m_all, m_said }) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
    }
    m_all->setObjectName(QStringLiteral("trashAll"));
    m_said->setObjectName(QStringLiteral("trashSaid"));
    m_said->asData()->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_restore = buttons->addButton(tr("Restore"), QDialogButtonBox::ActionRole);
    m_restore->setObjectName(QStringLiteral("trashRestore"));
    m_restore->setDefault(true);
    m_erase = buttons->addButton(tr("Delete for good…"), QDialogButtonBox::ActionRole);
    m_erase->setObjectName(QStringLiteral("trashErase"));
    m_erase->setAutoDefault(false);
    QPushButton* close = buttons->button(QDialogButtonBox::Close);
    close->setText(tr("Close"));
    close->setIcon({});
    close->setAutoDefault(false);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 14, 16, 14);
    layout->setSizeConstraint(QLayout::SetNoConstraint); // as in NoteDialog
    layout->setSpacing(10);
    layout->addWidget(m_tree, 1);
    layout->addWidget(m_all);
    layout->addWidget(m_said);
    layout->addWidget(buttons);
    resize(640, 400);
    m_tree->setFocus();
    fit();
}

void TrashDialog::read()
{
    m_jobs->submit([self = QPointer(this), dataDir = m_dataDir]() -> JobThread::Delivery {
        return [self, trashed = store::listTrash(dataDir)]() mutable {
            if (self)
                self->take(std::move(trashed));
        };
    });
}

void TrashDialog::take(std::vector<store::TrashedRun> trashed)
{
    items::assertGuiThread();
    m_trashed = std::move(trashed);
    m_model->removeRows(0, m_model->rowCount());
    for (const store::TrashedRun& one : m_trashed) {
        const QString deleted
            = QDateTime::fromMSecsSinceEpoch(one.deletedNs / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm"));
        QList<QStandardItem*> row;
        for (const QString& text : { QString::fromStdString(one.run.name), deleted, shownFolder(one),
                 views::formatBytes(one.run.fileBytes) }) {
            row.append(new QStandardItem(items::lineText(text)));
            row.last()->setToolTip(items::toolTipText(QString::fromStdString(one.from)));
        }
        row.first()->setData(static_cast<int>(one.run.state), items::StateRole);
        m_model->appendRow(row);
    }
    m_tree->setEmptyText(tr("The trash is empty."));
    m_tree->setEmpty(m_trashed.empty());
    if (!m_trashed.empty())
        m_tree->setCurrentIndex(m_model->index(0, 0));
    m_all->setText(m_trashed.empty() ? QString()
                                     : tr("%n runs take %1. They stay here until you delete them for good.", nullptr,
                                         static_cast<int>(m_trashed.size()))
                                           .arg(views::formatBytes(bytesOf(m_trashed))));
    m_isBusy = false;
    fit();
}

void TrashDialog::fit()
{
    const bool isAny = m_tree->selectionModel()->hasSelection();
    m_restore->setEnabled(isAny && !m_isBusy);
    m_erase->setEnabled(isAny && !m_isBusy);
}

std::vector<store::TrashedRun> TrashDialog::selected() const
{
    std::vector<store::TrashedRun> runs;
    for (const QModelIndex& index : m_tree->selectionModel()->selectedRows())
        runs.push_back(m_trashed[static_cast<std::size_t>(index.row())]);
    return runs;
}

QString TrashDialog::shownFolder(const store::TrashedRun& run) const
{
    if (run.from.starts_with(store::runsFolder(m_dataDir) + '/')) {
        const std::string folder = store::folderOf(m_dataDir, run.from);
        return folder.empty() ? tr("no folder") : QString::fromStdString(folder);
    }
    return QString::fromStdString(std::filesystem::path(run.from).parent_path().string());
}

void TrashDialog::eraseSelected()
{
    const auto runs = selected();
    if (runs.empty() || m_isBusy)
        return;
    const QString size = views::formatBytes(bytesOf(runs));
    const QString question = runs.size() == 1
        ? tr("Delete “%1” (%2) for good? Nothing brings it back.")
              .arg(items::lineText(QString::fromStdString(runs.front().run.name)), size)
        : tr("Delete %n runs (%1) for good? Nothing brings them back.", nullptr, static_cast<int>(runs.size()))
              .arg(size);
    if (m_confirm(question))
        work([](const store::TrashedRun& run) { return store::eraseTrashed(run); }, false);
}

void TrashDialog::work(const std::function<Expected<void>(const store::TrashedRun&)>& each, bool isRestoring)
{
    m_isBusy = true;
    fit();
    m_jobs->submit([self = QPointer(this), runs = selected(), each, isRestoring]() -> JobThread::Delivery {
        QStringList refused, done;
        for (const store::TrashedRun& run : runs) {
            if (const auto ok = each(run); ok)
                done.append(QString::fromStdString(run.run.name));
            else
                refused.append(items::saidwords::of(ok.error()));
        }
        return [self, refused, done, isRestoring] {
            if (!self)
                return;
            self->m_said->setText(refused.join(u'\n'));
            self->m_said->setVisible(!refused.isEmpty());
            if (isRestoring && !done.isEmpty())
                Q_EMIT self->restored(done);
            self->read();
        };
    });
}

}
