// SPDX-License-Identifier: GPL-3.0-or-later
#include "folderdialog.h"

#include <QDialogButtonBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/store/folders.h>

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

FolderDialog::FolderDialog(const QString& what, std::optional<QString> now, const QStringList& folders, QWidget* parent)
    : QDialog(parent)
    , m_now(std::move(now))
    , m_name(new QLineEdit(this))
    , m_list(new QListWidget(this))
    , m_said(new RoleLabel(&Theme::text3, views::wordsFont(11), this))
{
    setObjectName(QStringLiteral("folderDialog"));
    setWindowTitle(tr("Move to a folder"));
    auto* title = (new RoleLabel(what, &Theme::text, views::wordsFont(13, 600), this))->asData();
    title->setTextFormat(Qt::PlainText);
    title->setWordWrap(true);
    m_name->setObjectName(QStringLiteral("folderName"));
    m_name->setAccessibleName(tr("Folder"));
    m_name->setPlaceholderText(tr("A folder below, or a new one such as llama/ablation"));
    m_name->setText(m_now.value_or(QString()));
    m_name->selectAll();
    m_list->setObjectName(QStringLiteral("folderList"));
    m_list->setAccessibleName(tr("Folders that hold runs"));
    m_list->setFont(views::wordsFont(12));
    m_list->setUniformItemSizes(true);
    m_list->setIconSize({ 16, 16 });
    m_list->addItem(tr("No folder"));
    m_list->item(0)->setIcon(views::icon(QStringLiteral("stack")));
    for (const QString& folder : folders) {
        m_list->addItem(folder);
        m_list->item(m_list->count() - 1)->setIcon(views::icon(QStringLiteral("folder")));
        m_list->item(m_list->count() - 1)->setData(Qt::UserRole, folder);
    }
    m_said->setWordWrap(true);
    m_said->setTextFormat(Qt::PlainText);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_move = buttons->addButton(tr("Move"), QDialogButtonBox::AcceptRole);
    m_move->setObjectName(QStringLiteral("folderMove"));
    m_move->setDefault(true);
    buttons->button(QDialogButtonBox::Cancel)->setText(tr("Cancel"));
    buttons->button(QDialogButtonBox::Cancel)->setIcon({});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 14, 16, 14);
    layout->setSizeConstraint(QLayout::SetNoConstraint); // as in NoteDialog
    layout->setSpacing(10);
    layout->addWidget(title);
    layout->addWidget(m_name);
    layout->addWidget(m_list, 1);
    layout->addWidget(m_said);
    layout->addWidget(buttons);
    resize(420, 340);

    connect(m_name, &QLineEdit::textChanged, this, &FolderDialog::fit);
    connect(m_list, &QListWidget::itemClicked, this,
        [this](const QListWidgetItem* item) { m_name->setText(item->data(Qt::UserRole).toString()); });
    connect(m_list, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (item && m_list->hasFocus()) // by its keys
            m_name->setText(item->data(Qt::UserRole).toString());
    });
    connect(m_list, &QListWidget::itemActivated, m_move, &QPushButton::click);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    fit();
    m_name->setFocus();
}

void FolderDialog::fit()
{
    items::assertGuiThread();
    const auto name = store::folderName(m_name->text().trimmed().toStdString());
    m_folder = name ? QString::fromStdString(*name) : QString();
    const bool isHere = name && m_folder == m_now;
    const auto known
        = name ? m_list->findItems(m_folder, Qt::MatchExactly | Qt::MatchCaseSensitive) : QList<QListWidgetItem*>();
    QListWidgetItem* item = name && m_folder.isEmpty() ? m_list->item(0) : nullptr;
    for (QListWidgetItem* one : known)
        item = one->data(Qt::UserRole).toString() == m_folder ? one : item;
    if (m_list->currentItem() != item)
        m_list->setCurrentItem(item);
    m_said->setColor(name ? &Theme::text3 : &Theme::criticalText);
    m_said->setText(!name ? items::saidwords::of(name.error())
            : isHere      ? (m_folder.isEmpty() ? tr("In no folder already") : tr("There already"))
            : item        ? QString()
                          : tr("A new folder is made"));
    m_move->setEnabled(name && !isHere);
}

}
