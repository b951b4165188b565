// SPDX-License-Identifier: GPL-3.0-or-later
#include "answersmodel.h"

#include <algorithm>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>

namespace telltale::views {

using State = RankSteering::State;

namespace {

bool isNumber(int column)
{
    return column == AnswersModel::RankColumn || column == AnswersModel::StepColumn
        || column == AnswersModel::TookColumn;
}

}

void AnswersModel::set(const RunSteering& steering)
{
    items::assertGuiThread();
    const bool isSameRows = m_ranks.size() == steering.ranks.size();
    if (!isSameRows)
        beginResetModel();
    m_ranks = steering.ranks;
    if (!isSameRows)
        endResetModel();
    else if (!m_ranks.empty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int AnswersModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_ranks.size());
}

int AnswersModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

int AnswersModel::count(State state) const
{
    return static_cast<int>(
        std::count_if(m_ranks.begin(), m_ranks.end(), [state](const RankSteering& r) { return r.state == state; }));
}

QString AnswersModel::word(State state)
{
    switch (state) {
    case State::None:
        return {};
    case State::Offered:
        return tr("offered");
    case State::Accepted:
        return tr("waits for its step");
    case State::Refused:
        return tr("refused");
    case State::Applied:
        return tr("applied");
    case State::Lost:
        return tr("away");
    }
    return {};
}

QString AnswersModel::textOf(const RankSteering& rank, int column) const
{
    switch (column) {
    case RankColumn:
        return QString::number(rank.rank.value);
    case HostColumn:
        return QString::fromStdString(rank.host);
    case AnswerColumn:
        return word(rank.state);
    case StepColumn:
        return rank.state == State::Applied || rank.state == State::Accepted ? formatStep(rank.step) : QString();
    case TookColumn:
        return rank.tookMs < 0 ? QString() : tr("%1 ms").arg(rank.tookMs);
    case RunsColumn:
        return rank.runsRev == 0 ? tr("its own config") : tr("rev %1").arg(rank.runsRev);
    default:
        return QString::fromStdString(rank.reason);
    }
}

QVariant AnswersModel::data(const QModelIndex& index, int role) const
{
    const RankSteering& rank = m_ranks[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() == AnswerColumn && rank.state == State::None)
            return QString(QChar(0x2013));
        return textOf(rank, index.column());
    case Qt::EditRole: // as a file has it
        return textOf(rank, index.column());
    case Qt::ToolTipRole:
        if (index.column() == RunsColumn && rank.runsRev == 0)
            return tr("The config of the training itself: no revision of this run's history is in force");
        return textOf(rank, index.column());
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole:
        return isNumber(index.column()) ? numberFont(12) : wordsFont(12);
    case Qt::ForegroundRole:
        if (index.column() != AnswerColumn)
            return {};
        return rank.state == State::Refused ? Theme::current().criticalText
            : rank.state == State::Applied  ? Theme::current().ok
            : rank.state == State::None     ? Theme::current().text3
                                            : Theme::current().warnText;
    case StateRole:
        return static_cast<int>(rank.state);
    default:
        return {};
    }
}

QVariant AnswersModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::FontRole)
        return wordsFont(11);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    const QString titles[] { tr("Rank"), tr("Host"), tr("Answer"), tr("At step"), tr("Took"), tr("Runs"),
        tr("Reason") };
    return titles[section];
}

}
