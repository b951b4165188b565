// SPDX-License-Identifier: GPL-3.0-or-later
#include "logpanel.h"

#include <algorithm>

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QResizeEvent>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>

#include <telltale/common/tableshape.h>
#include <telltale/common/theme.h>
#include <telltale/items/logmodel.h>

#include "logfilter.h"
#include "panelhead.h"
#include "rolelabel.h"

namespace telltale::views {

namespace {

using items::LogModel;

constexpr int kLogRow = 22; ///< px of a line

/// Numbers in the number font; what is worse than a notice in its color.
class LineDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        const int severity = index.data(items::SeverityRole).toInt();
        painter->save();
        const bool isSelected = option.state.testFlag(QStyle::State_Selected);
        if (isSelected)
            painter->fillRect(option.rect, theme.selection);
        painter->setFont(fontOf(index.column()));
        const QColor color = index.column() == LogModel::KindColumn && severity > 0
            ? (severity > 1 ? theme.criticalText : theme.warnText)
            : index.column() == LogModel::TimeColumn ? theme.text2
                                                     : theme.text;
        painter->setPen(isSelected ? theme.onSelection(color) : color);
        const QRect cell = wordsOf(option.rect, index);
        const QString text = index.data().toString();
        const int first = (kLogRow - painter->fontMetrics().height()) / 2; // beside the other columns
        if (cell.height() > kLogRow && index.column() == LogModel::TextColumn)
            painter->drawText(cell.adjusted(0, first, 0, 0), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, text);
        else
            painter->drawText(QRect(cell.topLeft(), QSize(cell.width(), kLogRow)),
                index.data(Qt::TextAlignmentRole).toInt(),
                painter->fontMetrics().elidedText(text, Qt::ElideRight, cell.width()));
        painter->restore();
    }

    /// Of what is cut, and of nothing else.
    bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
        const QModelIndex& index) override
    {
        const int room = wordsOf(option.rect, index).width();
        if (event->type() == QEvent::ToolTip && index.isValid()
            && QFontMetrics(fontOf(index.column())).horizontalAdvance(index.data().toString()) <= room) {
            QToolTip::hideText();
            return true;
        }
        return QStyledItemDelegate::helpEvent(event, view, option, index);
    }

    /// px of a line that shows all of its words: of so many lines, that no other one is cut below it.
    static int heightFor(int columnWidth, const QModelIndex& index)
    {
        const QFontMetrics metrics(fontOf(index.column()));
        const QRect room = wordsOf(QRect(0, 0, columnWidth, QWIDGETSIZE_MAX), index);
        const QRect words
            = metrics.boundingRect(room, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, index.data().toString());
        return (words.height() + (kLogRow - metrics.height()) / 2 + kLogRow - 1) / kLogRow * kLogRow;
    }
    static QFont fontOf(int column) { return column >= LogModel::KindColumn ? wordsFont(12) : numberFont(12); }
};

/// px that the words of a column need, but for the last, which has what is left.
int needOf(int column)
{
    QStringList longest;
    if (column == LogModel::TimeColumn)
        longest = { QStringLiteral("0000-00-00 00:00:00") };
    else if (column == LogModel::StepColumn)
        longest = { formatStep(1'000'000) };
    else if (column == LogModel::KindColumn)
        longest = LogModel::kinds();
    int need = 0;
    for (const QString& words : longest)
        need = std::max(need, QFontMetrics(LineDelegate::fontOf(column)).horizontalAdvance(words));
    return need + (column == 0 ? 20 : 16); // what wordsOf() takes
}

}

LogPanel::LogPanel(LogModel* model, QWidget* parent)
    : QWidget(parent)
    , m_model(model)
    , m_proxy(new LogFilter(model, this))
    , m_head(new PanelHead(tr("Log"), this))
    , m_filter(new QLineEdit(this))
    , m_table(new QTableView(this))
    , m_empty(new RoleLabel(tr("No messages yet"), &Theme::text3, wordsFont(12), this))
{
    setObjectName(QStringLiteral("logPanel"));
    // Beside the field: in a head below a tab it would stand alone.
    QToolButton* copyButton = makeToolButton(QStringLiteral("copy"), tr("Copy the selected lines, or all"), this);
    m_filter->setObjectName(QStringLiteral("logFilter"));
    m_filter->setPlaceholderText(tr("Part of a message, a step or a rank"));
    m_filter->setAccessibleName(tr("Filter the log"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(420);
    m_table->setObjectName(QStringLiteral("logTable"));
    m_table->setAccessibleName(tr("Log"));
    m_table->setModel(m_proxy);
    m_table->setItemDelegate(new LineDelegate(m_table));
    shapeTable(m_table, kLogRow);
    m_table->setWordWrap(false);
    m_table->installEventFilter(this);
    m_table->viewport()->installEventFilter(this);
    QHeaderView* header = m_table->horizontalHeader();
    header->setStretchLastSection(true);
    for (int column = 0; column < LogModel::TextColumn; ++column)
        m_table->setColumnWidth(column, std::max(needOf(column), header->sectionSizeHint(column)));
    m_empty->setAlignment(Qt::AlignCenter);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(12, 6, 6, 6);
    top->addWidget(m_filter, 1);
    top->addStretch();
    top->addWidget(copyButton);
    layout->addLayout(top);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_empty, 1);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setFocusProxy(m_table);
    setTabOrder(m_table, m_filter); // as in ModulesPanel
    setTabOrder(m_filter, copyButton);

    connect(copyButton, &QToolButton::clicked, this, &LogPanel::copy);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_proxy->setText(text);
        refresh();
    });
    // Who reads further up stays there. The range also changes when the panel is first shown, long after the rows came.
    QScrollBar* bar = m_table->verticalScrollBar();
    connect(bar, &QScrollBar::valueChanged, this, [this, bar](int value) { m_isAtEnd = value == bar->maximum(); });
    connect(bar, &QScrollBar::rangeChanged, this, [this, bar](int, int most) {
        if (m_isAtEnd)
            bar->setValue(most);
    });
    for (const auto signal : { &QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved })
        connect(m_model, signal, this, &LogPanel::refresh);
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        m_isAtEnd = true;
        refresh();
    });
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
        const LogModel::Entry& entry = m_model->entry(m_proxy->mapToSource(index).row());
        if (entry.step >= 0)
            Q_EMIT stepWanted(entry.step, entry.rank);
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &LogPanel::fitCurrent);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &LogPanel::fitCurrent);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_table, &QWidget::customContextMenuRequested, this, &LogPanel::popUp);
    refresh();
}

void LogPanel::refresh()
{
    const int count = m_model->rowCount();
    const qint64 all = count + m_model->omitted();
    m_head->setHint(count == 0 ? QString()
            : all == count     ? QString::number(count)
                               : tr("newest %1 of %2").arg(count).arg(all));
    const bool isAny = m_proxy->rowCount() > 0;
    m_empty->setText(count == 0 ? tr("No messages yet") : tr("No message has this"));
    m_table->setVisible(isAny);
    m_empty->setVisible(!isAny);
    if (m_isAtEnd)
        m_table->scrollToBottom();
}

void LogPanel::copy() const
{
    QStringList lines;
    const QModelIndexList chosen = m_table->selectionModel()->selectedRows();
    for (int row = 0; row < m_proxy->rowCount(); ++row) {
        const QModelIndex index = m_proxy->index(row, 0);
        if (chosen.isEmpty() || chosen.contains(index))
            lines.append(index.data(items::KeyRole).toString());
    }
    QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

/// As high as its words need, while it is selected.
void LogPanel::fitCurrent()
{
    const QModelIndex current = m_table->currentIndex();
    const QModelIndex wanted = current.isValid() && m_table->selectionModel()->isRowSelected(current.row())
        ? current.siblingAtColumn(0)
        : QModelIndex();
    const bool isOther = wanted != m_high;
    if (m_high.isValid() && isOther)
        m_table->setRowHeight(m_high.row(), kLogRow);
    m_high = wanted;
    if (!wanted.isValid())
        return;
    const int height = LineDelegate::heightFor(
        m_table->columnWidth(LogModel::TextColumn), wanted.siblingAtColumn(LogModel::TextColumn));
    m_table->setRowHeight(wanted.row(), std::clamp(height, kLogRow, std::max(kLogRow, m_table->viewport()->height())));
    if (isOther)
        m_table->scrollTo(wanted);
}

const LogModel::Entry* LogPanel::current() const
{
    const QModelIndex index = m_proxy->mapToSource(m_table->currentIndex());
    return index.isValid() ? &m_model->entry(index.row()) : nullptr;
}

void LogPanel::popUp(const QPoint& position)
{
    const LogModel::Entry* entry = current();
    if (!entry)
        return;
    QMenu menu(this);
    if (entry->step >= 0)
        menu.addAction(tr("Go to step %1").arg(formatStep(entry->step)), this,
            [this, step = entry->step, rank = entry->rank] { Q_EMIT stepWanted(step, rank); });
    menu.addAction(tr("Copy"), this, &LogPanel::copy);
    if (entry->isNote) {
        menu.addSeparator();
        menu.addAction(tr("Change the note…"), this, [this, id = entry->id] { Q_EMIT noteWanted(id); });
        menu.addAction(tr("Remove the note"), this, [this, id = entry->id] { Q_EMIT noteRemovalWanted(id); });
    }
    menu.exec(m_table->viewport()->mapToGlobal(position));
}

bool LogPanel::eventFilter(QObject* watched, QEvent* event)
{
    // Whole rows alone: at the end, the first one would be cut.
    if (watched == m_table->viewport() && event->type() == QEvent::Resize) {
        const int below = layout()->contentsMargins().bottom();
        const int room = static_cast<QResizeEvent*>(event)->size().height() + below;
        if (const int rest = room % kLogRow; rest != below)
            layout()->setContentsMargins(0, 0, 0, rest);
        QMetaObject::invokeMethod(this, &LogPanel::fitCurrent, Qt::QueuedConnection); // its words may need less now
    }
    const LogModel::Entry* entry = event->type() == QEvent::KeyPress ? current() : nullptr;
    const int key = entry && entry->isNote ? static_cast<QKeyEvent*>(event)->key() : 0;
    if (key == Qt::Key_F2)
        Q_EMIT noteWanted(entry->id);
    if (key == Qt::Key_Delete)
        Q_EMIT noteRemovalWanted(entry->id);
    if (key == Qt::Key_F2 || key == Qt::Key_Delete)
        return true;
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        copy();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

}
