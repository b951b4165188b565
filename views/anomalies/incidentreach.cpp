// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidentreach.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include <QHeaderView>
#include <QPainter>

#include <telltale/common/rowlist.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/core/blockname.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/store/catalog.h>

#include "lanes.h"

namespace telltale::views {

using judge::Incident;

namespace {

constexpr int kReachRow = 22;
constexpr int kReachGap = 20; ///< before a column

enum ReachRole { BlockRole = Qt::UserRole, RankRole, StepRole };

/// Its own, else of the first part of it that has any; none for what is no module.
std::optional<ModuleKey> keyOfBlock(const ViewState& state, const QString& block)
{
    const store::Catalog& catalog = *state.catalog();
    QStringList names { block };
    const std::string part = block.toStdString() + '.';
    for (const std::uint32_t place : catalog.rows->namesInModelOrder()) {
        const std::string_view name = catalog.rows->names().at(place);
        if (name.starts_with(part)) {
            names.append(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
            break;
        }
    }
    for (const QString& name : names) {
        if (const ModuleKeys found = keysOf(catalog, state.kind(), name);
            !found.keys.empty() && found.kind != Kind::Scalar)
            return found.keys.front();
    }
    return {};
}

}

IncidentReach::IncidentReach(ViewState* state, QWidget* parent)
    : QTreeWidget(parent)
    , m_state(state)
{
    setObjectName(QStringLiteral("incidentReach"));
    setAccessibleName(tr("Where it reached"));
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setFrameShape(QFrame::NoFrame);
    setAllColumnsShowFocus(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHeaderLabels({ tr("Block"), tr("Rank"), tr("Steps"), tr("Findings") });
    header()->setFont(wordsFont(11));
    header()->setMinimumSectionSize(4);
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(0, QHeaderView::Stretch);
    for (int column = 1; column < columnCount(); ++column)
        headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    connect(this, &QTreeWidget::itemClicked, this, &IncidentReach::goTo);
    connect(this, &QTreeWidget::itemActivated, this, &IncidentReach::goTo);
}

int IncidentReach::wish() const
{
    return header()->sizeHint().height() + topLevelItemCount() * kReachRow;
}

int IncidentReach::heightOf(int rows)
{
    return (1 + rows) * kReachRow;
}

void IncidentReach::paintRows(QPainter& painter, const QRect& place) const
{
    const int all = topLevelItemCount();
    const int room = place.height() / kReachRow - 1;
    const int rows = all <= room ? all : std::max(room - 1, 0);
    std::vector<int> widths;
    for (int column = 0; column < columnCount(); ++column) {
        widths.push_back(QFontMetrics(wordsFont(11)).horizontalAdvance(headerItem()->text(column)));
        for (int row = 0; row < rows; ++row)
            widths.back() = std::max(widths.back(),
                QFontMetrics(topLevelItem(row)->font(column)).horizontalAdvance(topLevelItem(row)->text(column)));
    }
    const int others = std::accumulate(widths.begin() + 1, widths.end(), columnCount() * kReachGap - kReachGap);
    widths[0] = std::min(widths[0], place.width() - others);
    const auto say = [&painter, &place](int row, int from, int width, int alignment, const QString& text) {
        painter.drawText(QRect(place.left() + from, place.top() + row * kReachRow, width, kReachRow),
            alignment | Qt::TextDontClip, text);
    };
    for (int column = 0, from = 0; column < columnCount();
         from += widths[static_cast<std::size_t>(column++)] + kReachGap) {
        const int width = widths[static_cast<std::size_t>(column)];
        const int alignment = Qt::AlignVCenter | (column == 0 ? Qt::AlignLeft : Qt::AlignRight);
        painter.setFont(wordsFont(11));
        painter.setPen(Theme::current().text2);
        say(0, from, width, alignment, headerItem()->text(column));
        painter.setPen(Theme::current().text);
        for (int row = 0; row < rows; ++row) {
            painter.setFont(topLevelItem(row)->font(column));
            const QString text = topLevelItem(row)->text(column);
            say(row + 1, from, width, alignment,
                column == 0 ? painter.fontMetrics().elidedText(text, Qt::ElideMiddle, width + 1) : text);
        }
    }
    painter.setFont(wordsFont(12));
    painter.setPen(Theme::current().text3);
    if (rows < all)
        say(rows + 1, 0, place.width(), Qt::AlignLeft | Qt::AlignVCenter, tr("and %n more", nullptr, all - rows));
}

void IncidentReach::goTo(const QTreeWidgetItem* item)
{
    if (const int rank = item->data(0, RankRole).toInt(); rank >= 0)
        m_state->setRank(Rank { rank });
    if (const auto key = m_state->catalog() ? keyOfBlock(*m_state, item->data(0, BlockRole).toString()) : std::nullopt)
        m_state->setSelection({ *key });
    m_state->goTo(Step { item->data(0, StepRole).toLongLong() });
}

std::vector<std::uint64_t> IncidentReach::laterFindings(const Incident& incident)
{
    std::vector<std::uint64_t> counts;
    std::uint64_t all = 0;
    for (const judge::Reach& one : incident.reach) {
        counts.push_back(one.findings);
        all += one.findings;
    }
    const std::string block = incident.first.kind == Kind::Scalar ? incident.first.name : blockOf(incident.first.name);
    for (std::size_t i = 0; i < counts.size() && all > incident.folded; ++i) {
        const judge::Reach& one = incident.reach[i];
        if (one.block == block && one.rank == incident.first.rank)
            counts[i] -= std::min(counts[i], all - incident.folded);
    }
    return counts;
}

Step IncidentReach::reachedBy(const Incident& incident)
{
    std::map<Rank, Step> began;
    for (const judge::Reach& one : incident.reach) {
        const auto [rank, isNew] = began.try_emplace(one.rank, one.steps.first);
        rank->second = std::min(rank->second, one.steps.first);
    }
    Step by = incident.first.step;
    for (const auto& [rank, step] : began)
        by = rank.value < 0 ? by : std::max(by, step);
    return by;
}

void IncidentReach::showIncident(const Incident& incident)
{
    clear();
    QList<QTreeWidgetItem*> rows;
    const std::vector<std::uint64_t> later = laterFindings(incident);
    for (std::size_t i = 0; i < later.size(); ++i) {
        const judge::Reach& one = incident.reach[i];
        auto* item = new QTreeWidgetItem({ shownBlock(QString::fromStdString(one.block)),
            one.rank.value < 0 ? tr("all") : QString::number(one.rank.value), formatSteps(one.steps),
            formatStep(static_cast<qint64>(later[i])) });
        item->setFont(0, codeFont(12));
        item->setToolTip(0, items::toolTipText(item->text(0)));
        for (int column = 1; column < item->columnCount(); ++column) {
            item->setFont(column, numberFont(12));
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        }
        item->setData(0, BlockRole, QString::fromStdString(one.block));
        item->setData(0, RankRole, one.rank.value);
        item->setData(0, StepRole, static_cast<qlonglong>(one.steps.first.value));
        rows.append(item);
    }
    addTopLevelItems(rows);
    for (int column = 1; column < columnCount(); ++column) {
        resizeColumnToContents(column);
        setColumnWidth(column, columnWidth(column) + kReachGap);
    }
}

}
