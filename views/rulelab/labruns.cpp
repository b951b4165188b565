// SPDX-License-Identifier: GPL-3.0-or-later
#include "labruns.h"

#include <algorithm>

#include <QHeaderView>
#include <QScopedValueRollback>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/plaintext.h>
#include <telltale/items/guithread.h>
#include <telltale/items/runsmodel.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::views {
namespace {

constexpr int kIdRole = Qt::UserRole;
constexpr int kLeastName = 64; ///< px of the start of a name: the rules beside it give no room

}

LabRuns::LabRuns(items::RunsModel* model, ViewState* state, QWidget* parent)
    : QTreeWidget(parent)
    , m_model(model)
    , m_state(state)
{
    setObjectName(QStringLiteral("labRuns"));
    setAccessibleName(tr("Runs to try the rules on"));
    setColumnCount(ColumnCount);
    setHeaderLabels({ tr("Name"), tr("True"), tr("False"), tr("Clean") });
    headerItem()->setToolTip(TrueColumn, tr("Incidents that are labeled true"));
    headerItem()->setToolTip(FalseColumn, tr("Incidents that are labeled a false alarm"));
    headerItem()->setToolTip(CleanColumn,
        tr("Nothing is wrong with the run: whatever is found in it, and not labeled true, is a false alarm"));
    setFrameShape(QFrame::NoFrame);
    setRootIsDecorated(false);
    setIndentation(0);
    setUniformRowHeights(true);
    setFont(wordsFont(12));
    header()->setFont(wordsFont(11));
    header()->setFixedHeight(22);
    header()->setStretchLastSection(false);
    header()->setMinimumSectionSize(36);
    header()->setSectionResizeMode(NameColumn, QHeaderView::Stretch);
    int width = 0;
    for (int column = TrueColumn; column < ColumnCount; ++column) {
        header()->setSectionResizeMode(column, QHeaderView::Fixed);
        header()->resizeSection(column, header()->sectionSizeHint(column));
        headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        width += header()->sectionSize(column);
    }
    setMinimumWidth(width + std::max(kLeastName, header()->sectionSizeHint(NameColumn)) + 12);
    headerItem()->setTextAlignment(CleanColumn, Qt::AlignLeft | Qt::AlignVCenter);
    if (model != nullptr) {
        for (const auto signal : { &QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved })
            connect(model, signal, this, &LabRuns::takeRuns, Qt::QueuedConnection);
        connect(model, &QAbstractItemModel::modelReset, this, &LabRuns::takeRuns);
    }
    connect(state, &ViewState::runChanged, this, &LabRuns::takeRun);
    connect(this, &QTreeWidget::itemChanged, this, [this](QTreeWidgetItem* item, int column) {
        if (m_isTaking)
            return;
        if (column == NameColumn) {
            m_isChosen = true;
            Q_EMIT chosenChanged();
        } else if (column == CleanColumn) {
            Q_EMIT cleanWanted(find(item->data(0, kIdRole).toString()), item->checkState(column) == Qt::Checked);
        }
    });
    takeRuns();
}

void LabRuns::takeRuns()
{
    items::assertGuiThread();
    const QScopedValueRollback<bool> guard(m_isTaking, true);
    std::vector<store::RunRef> runs;
    if (const store::RunRef shown = m_state->run())
        runs.push_back(shown);
    for (const auto group : { items::RunsModel::LiveGroup, items::RunsModel::ArchivedGroup }) {
        for (const store::RunSummary& run :
            m_model != nullptr ? m_model->runs(group) : std::vector<store::RunSummary>()) {
            const bool isKnown
                = std::any_of(runs.begin(), runs.end(), [&](const store::RunRef& one) { return one->id == run.id; });
            if (!isKnown && run.state != store::RunState::Newer)
                runs.push_back(
                    std::make_shared<store::RunHandle>(store::RunHandle { run.locator, run.id, run.name, {} }));
        }
    }
    const auto nameOfRun = [](const store::RunRef& run) { return QString::fromStdString(terminalText(run->name)); };
    std::map<QString, int> names;
    std::map<QString, store::RunRef> known;
    for (const store::RunRef& run : runs) {
        ++names[nameOfRun(run)];
        known.emplace(QString::fromStdString(run->id), run);
    }
    for (int row = topLevelItemCount() - 1; row >= 0; --row) {
        if (!known.contains(topLevelItem(row)->data(0, kIdRole).toString()))
            delete takeTopLevelItem(row);
    }
    for (int row = 0; row < static_cast<int>(runs.size()); ++row) {
        const store::RunRef& run = runs[static_cast<std::size_t>(row)];
        const QString id = QString::fromStdString(run->id);
        const QString name = nameOfRun(run);
        QTreeWidgetItem* item = itemOf(id);
        if (item == nullptr) {
            item = new QTreeWidgetItem;
            item->setData(0, kIdRole, id);
            item->setCheckState(NameColumn, Qt::Unchecked);
            item->setCheckState(CleanColumn, Qt::Unchecked);
            for (const int column : { TrueColumn, FalseColumn }) {
                item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
                item->setFont(column, numberFont(12));
            }
            insertTopLevelItem(std::min(row, topLevelItemCount()), item);
        }
        item->setText(
            NameColumn, names[name] > 1 ? name + u' ' + QString::fromStdString(store::shortRunId(run->id)) : name);
        item->setToolTip(NameColumn, items::toolTipText(item->text(NameColumn)));
    }
    m_runs = std::move(known);
    fitColumns();
    if (!m_isChosen)
        takeRun();
    Q_EMIT listChanged();
}

void LabRuns::takeRun()
{
    const store::RunRef shown = m_state->run();
    if (shown && itemOf(QString::fromStdString(shown->id)) == nullptr) {
        takeRuns();
        return;
    }
    if (m_isChosen)
        return;
    {
        const QScopedValueRollback<bool> guard(m_isTaking, true);
        for (int row = 0; row < topLevelItemCount(); ++row) {
            const bool isIt = shown && topLevelItem(row)->data(0, kIdRole).toString().toStdString() == shown->id;
            topLevelItem(row)->setCheckState(NameColumn, isIt ? Qt::Checked : Qt::Unchecked);
        }
    }
    Q_EMIT chosenChanged();
}

QTreeWidgetItem* LabRuns::itemOf(const QString& id) const
{
    for (int row = 0; row < topLevelItemCount(); ++row) {
        if (topLevelItem(row)->data(0, kIdRole).toString() == id)
            return topLevelItem(row);
    }
    return nullptr;
}

store::RunRef LabRuns::find(const QString& id) const
{
    const auto run = m_runs.find(id);
    return run == m_runs.end() ? nullptr : run->second;
}

QString LabRuns::nameOf(const QString& id) const
{
    const QTreeWidgetItem* item = itemOf(id);
    return item == nullptr ? QString() : item->text(NameColumn);
}

QString LabRuns::wordOf(const QString& id) const
{
    const store::RunRef run = find(id);
    const QString name = nameOf(id);
    const bool isAlone = !run || name == QString::fromStdString(terminalText(run->name));
    return isAlone ? name : QString::fromStdString(store::shortRunId(run->id));
}

std::vector<store::RunRef> LabRuns::all() const
{
    std::vector<store::RunRef> runs;
    runs.reserve(static_cast<std::size_t>(topLevelItemCount()));
    for (int row = 0; row < topLevelItemCount(); ++row)
        runs.push_back(find(topLevelItem(row)->data(0, kIdRole).toString()));
    std::stable_partition(runs.begin(), runs.end(),
        [this](const store::RunRef& run) { return m_state->run() && run->id == m_state->run()->id; });
    return runs;
}

std::vector<store::RunRef> LabRuns::chosen() const
{
    std::vector<store::RunRef> runs;
    for (const store::RunRef& run : all()) {
        if (itemOf(QString::fromStdString(run->id))->checkState(NameColumn) == Qt::Checked)
            runs.push_back(run);
    }
    return runs;
}

void LabRuns::setTruth(const QString& id, const lab::Truth& truth)
{
    QTreeWidgetItem* item = itemOf(id);
    if (item == nullptr)
        return;
    const QScopedValueRollback<bool> guard(m_isTaking, true);
    const auto text = [&](judge::Incident::Label label) {
        const int count = truth.count(label);
        return count == 0 ? QString() : QString::number(count);
    };
    item->setText(TrueColumn, text(judge::Incident::Label::True));
    item->setText(FalseColumn, text(judge::Incident::Label::False));
    item->setCheckState(CleanColumn, truth.isClean ? Qt::Checked : Qt::Unchecked);
    fitColumns();
}

/// Names have the room of what stands in no row.
void LabRuns::fitColumns()
{
    for (const int column : { TrueColumn, FalseColumn }) {
        bool isEmpty = true;
        for (int row = 0; row < topLevelItemCount(); ++row)
            isEmpty = isEmpty && topLevelItem(row)->text(column).isEmpty();
        setColumnHidden(column, isEmpty);
    }
}

void LabRuns::setCleanWaiting(const QString& id, bool isClean)
{
    const QScopedValueRollback<bool> guard(m_isTaking, true);
    if (QTreeWidgetItem* item = itemOf(id))
        item->setCheckState(CleanColumn, isClean ? Qt::Checked : Qt::Unchecked);
}

}
