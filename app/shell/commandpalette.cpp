// SPDX-License-Identifier: GPL-3.0-or-later
#include "commandpalette.h"

#include <algorithm>

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <telltale/common/theme.h>

namespace telltale::shell {

using views::Theme;

namespace {

constexpr int kWidth = 520;
constexpr int kRow = 28;
constexpr int kMostRows = 12;
constexpr int kDetailRole = Qt::UserRole + 1;
constexpr int kModuleRole = Qt::UserRole + 2;

class EntryDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return { 100, kRow }; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        painter->save();
        if (option.state.testFlag(QStyle::State_Selected))
            painter->fillRect(option.rect, theme.selection);
        const QRect inner = option.rect.adjusted(12, 0, -12, 0);
        const QString detail = index.data(kDetailRole).toString();
        painter->setFont(views::wordsFont(11));
        painter->setPen(option.state.testFlag(QStyle::State_Selected) ? theme.text : theme.text3);
        painter->drawText(inner, static_cast<int>(Qt::AlignVCenter | Qt::AlignRight), detail);
        const QRect words = inner.adjusted(0, 0, -painter->fontMetrics().horizontalAdvance(detail) - 12, 0);
        painter->setFont(index.data(kModuleRole).toBool() ? views::codeFont(12) : views::wordsFont(12));
        painter->setPen(theme.text);
        painter->drawText(words, static_cast<int>(Qt::AlignVCenter),
            painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, words.width()));
        painter->restore();
    }
};

}

CommandPalette::CommandPalette(Source source, QWidget* window)
    : QWidget(window)
    , m_source(std::move(source))
    , m_field(new QLineEdit(this))
    , m_list(new QListWidget(this))
{
    setObjectName(QStringLiteral("commandPalette"));
    m_field->setPlaceholderText(tr("Go to module, step or command"));
    m_field->setAccessibleName(tr("Go to module, step or command"));
    m_field->addAction(views::icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
    m_field->installEventFilter(this);
    m_list->setItemDelegate(new EntryDelegate(m_list));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setUniformItemSizes(true);
    m_list->setAccessibleName(tr("Results"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(6);
    layout->addWidget(m_field);
    layout->addWidget(m_list);
    connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::refresh);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::runCurrent);
    hide();
}

void CommandPalette::popUp()
{
    m_before = window()->focusWidget();
    m_field->clear();
    refresh();
    const int width = std::min(kWidth, parentWidget()->width() - 40);
    setGeometry((parentWidget()->width() - width) / 2, 76, width, height());
    show();
    raise();
    m_field->setFocus(Qt::ShortcutFocusReason);
}

void CommandPalette::refresh()
{
    m_entries = m_source(m_field->text().trimmed(), 60);
    m_list->clear();
    for (const Entry& entry : m_entries) {
        auto item = std::make_unique<QListWidgetItem>(entry.text);
        item->setData(kDetailRole, entry.detail);
        item->setData(kModuleRole, entry.isModule);
        m_list->addItem(item.release()); // the list owns its items
    }
    if (m_entries.empty()) {
        auto nothing = std::make_unique<QListWidgetItem>(tr("nothing found"));
        nothing->setFlags(Qt::NoItemFlags);
        m_list->addItem(nothing.release());
    } else {
        m_list->setCurrentRow(0);
    }
    const int rows = std::clamp(static_cast<int>(m_entries.size()), 1, kMostRows);
    resize(width(), rows * kRow + 26 + 24);
}

void CommandPalette::runCurrent()
{
    const int row = m_list->currentRow();
    hide();
    if (m_before)
        m_before->setFocus();
    if (row >= 0 && row < static_cast<int>(m_entries.size()))
        m_entries[static_cast<std::size_t>(row)].run();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::FocusOut) {
        hide();
    } else if (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const bool ours = key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Up
            || key == Qt::Key_Down;
        if (!ours)
            return QWidget::eventFilter(watched, event);
        event->accept();
        if (event->type() == QEvent::ShortcutOverride)
            return true;
        if (key == Qt::Key_Escape) {
            hide();
            if (m_before)
                m_before->setFocus();
        } else if (key == Qt::Key_Up || key == Qt::Key_Down) {
            const int last = static_cast<int>(m_entries.size()) - 1;
            m_list->setCurrentRow(
                std::clamp(m_list->currentRow() + (key == Qt::Key_Up ? -1 : 1), 0, std::max(0, last)));
        } else {
            runCurrent();
        }
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void CommandPalette::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.controlBorder, 1));
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
}

}
