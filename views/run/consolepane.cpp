// SPDX-License-Identifier: GPL-3.0-or-later
#include "consolepane.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>

#include "consolelines.h"

namespace telltale::views {
namespace {

constexpr int kRow = 18;

/// The time in a quiet color; lines of standard error have a word before them, and a color.
class ConsoleDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return { 200, kRow }; }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        const ConsoleLine& line = static_cast<const ConsoleModel*>(index.model())->line(index.row());
        painter->save();
        if (option.state.testFlag(QStyle::State_Selected))
            painter->fillRect(option.rect, theme.selection);
        QRect cell = option.rect.adjusted(12, 0, -8, 0);
        const auto part = [&](const QString& text, const QFont& font, const QColor& color, int width) {
            painter->setFont(font);
            painter->setPen(color);
            painter->drawText(cell, static_cast<int>(Qt::AlignVCenter | Qt::AlignLeft),
                painter->fontMetrics().elidedText(text, Qt::ElideRight, cell.width()));
            cell.setLeft(cell.left() + width);
        };
        const QString all = static_cast<const ConsoleModel*>(index.model())->text(index.row());
        if (line.wallMs > 0)
            part(all.left(8), numberFont(11), theme.text3, 60);
        if (line.isError)
            part(QStringLiteral("err"), codeFont(11, 500), theme.warnText, 30);
        part(line.text, codeFont(12), line.isError ? theme.warnText : theme.text, 0);
        painter->restore();
    }
};

}

ConsolePane::ConsolePane(QWidget* parent)
    : QWidget(parent)
    , m_model(new ConsoleModel(this))
    , m_filter(new QLineEdit(this))
    , m_count((new RoleLabel(&Theme::text3, wordsFont(11), this))->asData())
    , m_list(new QListView(this))
    , m_empty(new RoleLabel(
          tr("Nothing is kept of what the training prints: telltale.capture_console() in its program keeps it."),
          &Theme::text3, wordsFont(12), this))
{
    m_filter->setObjectName(QStringLiteral("consoleFilter"));
    m_filter->setPlaceholderText(tr("Part of a line"));
    m_filter->setAccessibleName(tr("Search the console"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(320);
    m_list->setObjectName(QStringLiteral("consoleList"));
    m_list->setAccessibleName(tr("Console"));
    m_list->setModel(m_model);
    m_list->setItemDelegate(new ConsoleDelegate(m_list));
    m_list->setUniformItemSizes(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->installEventFilter(this);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(24);

    auto* top = new QHBoxLayout;
    top->setContentsMargins(12, 6, 8, 6);
    top->addWidget(m_filter, 1);
    top->addSpacing(6);
    top->addWidget(m_count, 1);
    QToolButton* copyButton = makeToolButton(QStringLiteral("copy"), tr("Copy the selected lines, or all"), this);
    top->addWidget(copyButton);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(m_list, 1);
    layout->addWidget(m_empty, 1);
    connect(copyButton, &QToolButton::clicked, this, &ConsolePane::copy);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_model->setFilter(text);
        m_list->scrollToBottom();
        showCount();
    });
    showCount();
}

void ConsolePane::clear()
{
    m_model->clear();
    m_rank = -1;
    m_isAtEnd = true;
    showCount();
}

void ConsolePane::append(const ConsoleLines& more, int rank)
{
    items::assertGuiThread();
    const QScrollBar* bar = m_list->verticalScrollBar();
    m_isAtEnd = bar->value() == bar->maximum();
    m_rank = rank;
    if (more.isEmpty())
        return;
    m_model->append(more);
    showCount();
    if (m_isAtEnd) // who reads further up stays there
        m_list->scrollToBottom();
}

void ConsolePane::showCount()
{
    const bool isEmpty = m_model->all() == 0;
    m_list->setVisible(!isEmpty);
    m_empty->setVisible(isEmpty);
    const auto shown = static_cast<std::size_t>(m_model->rowCount());
    const QString lines = shown == m_model->all()
        ? tr("%n lines", nullptr, static_cast<int>(shown))
        : tr("%1 of %n lines", nullptr, static_cast<int>(m_model->all())).arg(formatStep(static_cast<qint64>(shown)));
    m_count->setText(isEmpty ? QString() : tr("rank %1, %2").arg(m_rank).arg(lines));
}

void ConsolePane::copy() const
{
    QStringList lines;
    const auto* chosen = m_list->selectionModel();
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (!chosen->hasSelection() || chosen->isSelected(m_model->index(row)))
            lines.append(m_model->text(row));
    }
    QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

bool ConsolePane::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        copy();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

}
