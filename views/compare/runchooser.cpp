// SPDX-License-Identifier: GPL-3.0-or-later
#include "runchooser.h"

#include <algorithm>

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMouseEvent>
#include <QPainter>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/items/runsmodel.h>

namespace telltale::views {
namespace {

constexpr int kIdRole = Qt::UserRole;
constexpr int kStartedRole = Qt::UserRole + 1;
constexpr int kRowHeight = 24;
constexpr int kAround = 54; ///< px of the search and the margins
constexpr int kBesideDate = 8;

/// The name, and in a column of their own at the right when the runs began. All of a row is its box.
class ChoiceDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem row = option;
        initStyleOption(&row, index);
        const QStyle* style = row.widget->style();
        const QString started = index.data(kStartedRole).toString();
        const QFont font = numberFont(12);
        const QRect date = row.rect.adjusted(0, 0, -kBesideDate, 0);
        const int end = date.right() - QFontMetrics(font).horizontalAdvance(started) - 2 * kBesideDate;
        row.text = row.fontMetrics.elidedText(row.text, Qt::ElideRight,
            end - style->subElementRect(QStyle::SE_ItemViewItemText, &row, row.widget).left());
        style->drawControl(QStyle::CE_ItemViewItem, &row, painter, row.widget);
        painter->setFont(font);
        painter->setPen(row.state.testFlag(QStyle::State_Selected) ? Theme::current().text : Theme::current().text3);
        painter->drawText(date, Qt::AlignRight | Qt::AlignVCenter, started);
    }

protected:
    bool editorEvent(
        QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index) override
    {
        switch (event->type()) {
        case QEvent::MouseButtonPress:
            return false; // the row is highlighted
        case QEvent::MouseButtonRelease:
        case QEvent::MouseButtonDblClick: {
            const bool isChecked = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
            return static_cast<QMouseEvent*>(event)->button() == Qt::LeftButton
                && model->setData(index, isChecked ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
        }
        default:
            return QStyledItemDelegate::editorEvent(event, model, option, index);
        }
    }
};

}

RunChooser::RunChooser(items::RunsModel* model, ViewState* state, Find find, QWidget* parent)
    : QFrame(parent)
    , m_model(model)
    , m_state(state)
    , m_find(std::move(find))
    , m_search(new QLineEdit(this))
    , m_list(new QListWidget(this))
{
    setObjectName(QStringLiteral("compareChooser"));
    setFrameShape(QFrame::StyledPanel);
    m_search->setObjectName(QStringLiteral("compareSearch"));
    m_search->setPlaceholderText(tr("Search runs"));
    m_search->setAccessibleName(tr("Search runs"));
    m_search->setClearButtonEnabled(true);
    m_list->setObjectName(QStringLiteral("compareRuns"));
    m_list->setAccessibleName(tr("Runs to compare with"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFont(wordsFont(12));
    m_list->setItemDelegate(new ChoiceDelegate(m_list));
    m_list->setUniformItemSizes(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(8);
    layout->addWidget(m_search);
    layout->addWidget(m_list);
    setAutoFillBackground(true);
    setFocusProxy(m_search);
    hide();
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, const QWidget* now) {
        if (isVisible() && now && now != this && !isAncestorOf(now))
            hide();
    });
    connect(m_search, &QLineEdit::textChanged, this, &RunChooser::filter);
    connect(m_list, &QListWidget::itemChanged, this, [this] {
        if (!m_isFilling)
            tellChosen();
    });
    // Return checks what is highlighted, as Space does.
    connect(m_list, &QListWidget::itemActivated, this, [](QListWidgetItem* item) {
        item->setCheckState(item->checkState() == Qt::Checked ? Qt::Unchecked : Qt::Checked);
    });
}

void RunChooser::openBelow(const QWidget* button)
{
    fill();
    m_search->clear();
    const QPoint below = button->mapTo(parentWidget(), QPoint(0, button->height() + 2));
    const int rows = std::max(m_list->count(), 3) * kRowHeight + kAround;
    resize(
        std::min(340, parentWidget()->width() - 8), std::min({ 360, rows, parentWidget()->height() - below.y() - 8 }));
    move(std::max(4, std::min(below.x(), parentWidget()->width() - width() - 4)), below.y());
    show();
    raise();
    m_search->setFocus();
    qApp->installEventFilter(this);
}

void RunChooser::hideEvent(QHideEvent* event)
{
    qApp->removeEventFilter(this);
    QFrame::hideEvent(event);
}

/// A click elsewhere closes it, also on what takes no focus; so does Escape wherever the focus is.
bool RunChooser::eventFilter(QObject* watched, QEvent* event)
{
    const auto* widget = qobject_cast<QWidget*>(watched);
    const bool isElsewhere = widget && widget != this && !isAncestorOf(widget);
    if (event->type() == QEvent::MouseButtonPress && isElsewhere)
        hide();
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept(); // no command of the window's
        if (isElsewhere)
            hide();
        return isElsewhere;
    }
    return QFrame::eventFilter(watched, event);
}

std::vector<store::RunSummary> RunChooser::choices(const items::RunsModel* model, const ViewState& state)
{
    std::vector<store::RunSummary> runs;
    for (const auto group : { items::RunsModel::LiveGroup, items::RunsModel::ArchivedGroup }) {
        for (const store::RunSummary& run : model ? model->runs(group) : std::vector<store::RunSummary>()) {
            const bool isShown = state.run() && state.run()->locator == run.locator;
            if (!isShown && run.state != store::RunState::Newer)
                runs.push_back(run);
        }
    }
    return runs;
}

void RunChooser::fill()
{
    items::assertGuiThread();
    const QScopedValueRollback<bool> guard(m_isFilling, true);
    m_list->clear();
    const auto isCompared = [this](const store::RunLocator& locator) {
        return std::any_of(m_state->comparedRuns().begin(), m_state->comparedRuns().end(),
            [&locator](const ComparedRun& one) { return one.run->locator == locator; });
    };
    for (const store::RunSummary& run : choices(m_model, *m_state)) {
        const QString id = QString::fromStdString(run.id);
        // Many runs have one name: when they began tells people more of them than their ids do.
        const QModelIndex at = m_model->indexOf(id);
        auto* item = new QListWidgetItem(m_model->shownName(run), m_list);
        item->setData(kIdRole, id);
        item->setData(kStartedRole, items::RunsModel::startedText(run));
        item->setSizeHint({ 0, kRowHeight });
        item->setToolTip(at.data(Qt::ToolTipRole).toString());
        item->setFlags(item->flags() | Qt::ItemIsUserCheckable);
        item->setCheckState(isCompared(run.locator) ? Qt::Checked : Qt::Unchecked);
    }
}

void RunChooser::filter(const QString& text)
{
    for (int row = 0; row < m_list->count(); ++row) {
        QListWidgetItem* item = m_list->item(row);
        item->setHidden(
            !item->text().contains(text, Qt::CaseInsensitive) && !item->data(kStartedRole).toString().contains(text));
    }
}

store::RunRef RunChooser::find(const QString& id) const
{
    if (m_find)
        return m_find(id);
    const store::RunSummary* run = m_model->runAt(m_model->indexOf(id));
    return run ? std::make_shared<store::RunHandle>(store::RunHandle { run->locator, run->id, run->name, {} })
               : nullptr;
}

void RunChooser::tellChosen()
{
    // Those that were there keep their places, and with them their colors.
    std::vector<store::RunRef> runs;
    for (const ComparedRun& one : m_state->comparedRuns()) {
        for (int row = 0; row < m_list->count(); ++row) {
            const QListWidgetItem* item = m_list->item(row);
            if (item->checkState() == Qt::Checked && item->data(kIdRole).toString().toStdString() == one.run->id)
                runs.push_back(one.run);
        }
    }
    for (int row = 0; row < m_list->count(); ++row) {
        QListWidgetItem* item = m_list->item(row);
        const std::string id = item->data(kIdRole).toString().toStdString();
        const bool isKnown
            = std::any_of(runs.begin(), runs.end(), [&id](const store::RunRef& run) { return run->id == id; });
        if (item->checkState() != Qt::Checked || isKnown)
            continue;
        if (runs.size() >= ViewState::kMostCompared) {
            const QScopedValueRollback<bool> guard(m_isFilling, true);
            item->setCheckState(Qt::Unchecked);
            continue;
        }
        if (store::RunRef run = find(item->data(kIdRole).toString()))
            runs.push_back(std::move(run));
    }
    Q_EMIT chosen(runs);
}

void RunChooser::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        hide();
        parentWidget()->setFocus();
        return;
    }
    if (event->key() == Qt::Key_Down && m_search->hasFocus()) {
        m_list->setFocus();
        if (m_list->currentRow() < 0)
            m_list->setCurrentRow(0);
        return;
    }
    QFrame::keyPressEvent(event);
}

}
