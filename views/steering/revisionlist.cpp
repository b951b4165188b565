// SPDX-License-Identifier: GPL-3.0-or-later
#include "revisionlist.h"

#include <algorithm>

#include <QAbstractListModel>
#include <QCoreApplication>
#include <QDateTime>
#include <QMouseEvent>
#include <QPainter>
#include <QStyledItemDelegate>

#include <telltale/common/annotator.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>

#include "fieldtext.h"

namespace telltale::views {
namespace {

enum Role { WhenRole = Qt::UserRole, RevRole, ChangesRole };
constexpr int kRowHeight = 44; ///< with one change
constexpr int kChangeHeight = 18; ///< as the line above the changes
constexpr int kMostChanges = 8; ///< of a row; its tip has all
constexpr int kRevGap = 8; ///< px behind the revision's number
constexpr int kIconRoom = 36; ///< px at a row's right where a click chooses it

QString changeText(const config::FieldChange& change)
{
    return QString::fromStdString(change.pointer).mid(1).replace(u'/', u'.') + u' '
        + grouped(QString::fromStdString(change.before)) + QStringLiteral(" \u2192 ")
        + grouped(QString::fromStdString(change.after));
}

/// By the clock where it is of today, as the list of runs has it.
QString timeText(qint64 wallNs)
{
    const QDateTime time = QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000);
    return time.toString(
        time.date() == QDate::currentDate() ? QStringLiteral("HH:mm:ss") : QStringLiteral("yyyy-MM-dd HH:mm"));
}

/// A revision and when it was, below that what it changed, a line each, and what choosing it does.
class RevisionDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = Theme::current();
        const bool isMarked = option.state.testFlag(QStyle::State_Selected);
        const bool isUnderMouse = option.state.testFlag(QStyle::State_MouseOver);
        if (isMarked || isUnderMouse)
            painter->fillRect(option.rect, isMarked ? theme.selection : theme.hover);
        painter->fillRect(option.rect.x(), option.rect.bottom(), option.rect.width(), 1, theme.border);
        painter->save();
        QRect rest = option.rect.adjusted(12, 4, -12, -4);
        const auto line = [&](const QString& text) {
            painter->drawText(QRect(rest.x(), rest.y(), rest.width(), kChangeHeight), Qt::AlignVCenter,
                painter->fontMetrics().elidedText(text, Qt::ElideRight, rest.width()));
        };
        painter->setFont(wordsFont(12, 600));
        painter->setPen(theme.text);
        const QString rev = index.data(RevRole).toString();
        line(rev);
        const int indent = painter->fontMetrics().horizontalAdvance(rev) + kRevGap;
        painter->setFont(wordsFont(11));
        painter->setPen(theme.text2);
        rest.setLeft(rest.left() + indent);
        line(index.data(WhenRole).toString());
        rest.adjust(-indent, kChangeHeight, 0, 0);
        const QString name = index.row() == 0 ? QStringLiteral("undo") : QStringLiteral("history");
        icon(name).paint(painter, rest.right() - 15, rest.center().y() - 7, 16, 16);
        rest.setRight(rest.right() - 24);
        painter->setFont(codeFont(12));
        painter->setPen(theme.text);
        for (const QString& change : shownChanges(index)) {
            line(fitted(change, painter->fontMetrics(), rest.width()));
            rest.setTop(rest.top() + kChangeHeight);
        }
        painter->restore();
    }
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override
    {
        return { 200, kRowHeight + static_cast<int>(shownChanges(index).size() - 1) * kChangeHeight };
    }

private:
    /// The name before the values loses its front where that is enough.
    static QString fitted(const QString& change, const QFontMetrics& metrics, int width)
    {
        const qsizetype end = std::max<qsizetype>(change.indexOf(u' '), 0);
        const int room = width - metrics.horizontalAdvance(change.mid(end));
        return room < width / 3 ? change : metrics.elidedText(change.left(end), Qt::ElideLeft, room) + change.mid(end);
    }
    static QStringList shownChanges(const QModelIndex& index)
    {
        QStringList changes = index.data(ChangesRole).toStringList();
        if (const auto more = static_cast<int>(changes.size()) - kMostChanges; more > 0)
            changes = changes.mid(0, kMostChanges - 1) << RevisionList::tr("%n more", nullptr, more + 1);
        return changes;
    }
};

}

/// Thread: gui.
class RevisionsModel : public QAbstractListModel {
    Q_DECLARE_TR_FUNCTIONS(telltale::views::RevisionsModel)
public:
    using QAbstractListModel::QAbstractListModel;

    void set(std::vector<analysis::RevisionFacts> revisions)
    {
        items::assertGuiThread();
        beginResetModel();
        m_revisions = std::move(revisions);
        endResetModel();
    }
    const analysis::RevisionFacts& at(int row) const { return m_revisions[static_cast<std::size_t>(row)]; }
    bool isNewest(std::uint64_t rev) const { return !m_revisions.empty() && m_revisions.front().rev == rev; }

    int rowCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_revisions.size());
    }
    QVariant data(const QModelIndex& index, int role) const override
    {
        const analysis::RevisionFacts& one = at(index.row());
        switch (role) {
        case ChangesRole: {
            QStringList changes;
            for (const config::FieldChange& change : one.changes)
                changes.append(changeText(change));
            return changes.isEmpty() ? QStringList { tr("the same again") } : changes;
        }
        case Qt::DisplayRole:
        case Qt::ToolTipRole:
            return data(index, ChangesRole).toStringList().join(role == Qt::ToolTipRole ? u"\n" : u", ");
        case Qt::AccessibleTextRole:
            return data(index, RevRole).toString() + QStringLiteral(": ") + data(index, Qt::DisplayRole).toString()
                + QStringLiteral("; ") + data(index, WhenRole).toString();
        case RevRole:
            return tr("rev %1").arg(one.rev);
        case WhenRole:
            return tr("step %1 by %2, %3")
                .arg(formatStep(one.applyAtStep.value), Annotator::writerText(one.author), timeText(one.wallNs));
        default:
            return {};
        }
    }

private:
    std::vector<analysis::RevisionFacts> m_revisions;
};

RevisionList::RevisionList(QWidget* parent)
    : QListView(parent)
    , m_model(new RevisionsModel(this))
{
    setObjectName(QStringLiteral("configHistory"));
    setAccessibleName(tr("Revisions of the config"));
    setModel(m_model);
    setItemDelegate(new RevisionDelegate(this));
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setEditTriggers(NoEditTriggers);
    connect(this, &QListView::activated, this, &RevisionList::choose);
}

void RevisionList::choose(const QModelIndex& index)
{
    const analysis::RevisionFacts& one = m_model->at(index.row());
    Q_EMIT chosen(QString::fromStdString(index.row() == 0 ? one.before : one.config));
}

void RevisionList::mouseReleaseEvent(QMouseEvent* event)
{
    QListView::mouseReleaseEvent(event);
    const QModelIndex index = indexAt(event->pos());
    if (event->button() == Qt::LeftButton && index.isValid() && event->pos().x() >= viewport()->width() - kIconRoom)
        choose(index);
}

void RevisionList::set(const std::vector<analysis::RevisionFacts>& revisions)
{
    const int selected = currentIndex().row();
    m_model->set(revisions);
    if (selected >= 0)
        setCurrentIndex(m_model->index(selected, 0));
}

}
