// SPDX-License-Identifier: GPL-3.0-or-later
#include "allkinds.h"

#include <algorithm>
#include <array>
#include <map>

#include <QHeaderView>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/theme.h>
#include <telltale/items/comma.h>
#include <telltale/items/guithread.h>
#include <telltale/items/shownname.h>
#include <telltale/store/rowsof.h>

#include "paneltree.h"
#include "rolelabel.h"

namespace telltale::views {

namespace {

enum NameRole { WhatRole = Qt::UserRole + 8, BehindRole };

constexpr int kRowHeight = 20;
constexpr int kValueWidth = 34; ///< of a dash; what needs more takes it in its own row
constexpr int kBesideValue = 24; ///< the margins of a cell, and what it ends before the edge

/// What a value needs beyond its column it takes from the name in its own row alone.
class ValueDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    static int widthOf(const QString& text)
    {
        return QFontMetrics(numberFont(12)).horizontalAdvance(text) + kBesideValue;
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem own = option;
        own.rect.setLeft(std::min(own.rect.left(), own.rect.right() + 1 - widthOf(index.data().toString())));
        const auto* list = static_cast<const QAbstractItemView*>(option.widget);
        list->itemDelegate()->paint(painter, own, index);
    }
};

std::optional<Stat> statOf(const series::RowIndex::Row& row, Stat wanted)
{
    for (const Stat stat : { wanted, Stat::Norm, Stat::Value, Stat::Entropy, Stat::StableRank }) {
        if (row.answers(stat))
            return stat;
    }
    return std::nullopt;
}

/// What the facts above say of it: norm and mean are over the finite elements, and the others are left out.
QString valueText(Stat stat, const series::CellValue& cell)
{
    const series::CellState state
        = isNonFiniteCount(stat) ? cell.state : series::readoutState(stat, cell, 0); // 0: how many is not known here
    if (series::isNonFinite(state))
        return glyphs::word(state);
    if (state != series::CellState::Value)
        return QChar(0x2013);
    const QString text = statValueText(stat, cell.value);
    return series::isPartOf(stat, cell, 0) ? text + items::comma() + glyphs::leftOutText(cell.state) : text;
}

}

bool isOfParameters(Kind kind)
{
    constexpr std::array kKinds { Kind::ParamOrigin, Kind::ParamUpdated, Kind::GradUnreduced, Kind::GradReduced,
        Kind::ExpAvg, Kind::ExpAvgSq, Kind::MgDirection, Kind::Update, Kind::UpdateRatio };
    return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

AllKinds::AllKinds(ViewState* state, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
    , m_title(new RoleLabel(&Theme::text2, wordsFont(11, 600), this))
    , m_list(new PanelTree(this))
    , m_model(new QStandardItemModel(0, 2, this))
{
    m_list->setObjectName(QStringLiteral("inspectorKinds"));
    m_list->setAccessibleName(tr("All kinds of this module"));
    m_list->setToolTip(tr("A click shows this kind everywhere."));
    m_list->setModel(m_model);
    m_list->setRootIsDecorated(false);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setIndentation(0);
    m_list->setStyleSheet(QStringLiteral("QTreeView::item:last { padding-right: 9px; }")); // below the values above
    m_list->setTabKeyNavigation(false);
    m_list->setTextElideMode(Qt::ElideRight);
    m_list->setEmpty(false);
    m_list->setItemDelegateForColumn(1, new ValueDelegate(m_list));
    QHeaderView* header = m_list->header();
    header->hide();
    header->setStretchLastSection(false);
    header->setSectionResizeMode(0, QHeaderView::Stretch);
    header->setMinimumSectionSize(kValueWidth);
    header->setSectionResizeMode(1, QHeaderView::Fixed);
    header->resizeSection(1, kValueWidth);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    m_title->setObjectName(QStringLiteral("inspectorKindsTitle"));
    m_title->setWordWrap(true);
    m_title->setContentsMargins(12, 0, 12, 0); // the rows go from edge to edge, their words stand below it
    layout->addWidget(m_title);
    layout->addWidget(m_list);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed); // what is left is below all of the inspector
    hide();
    // A value may reach into the column of the name, which a changed cell alone does not repaint.
    connect(m_model, &QAbstractItemModel::dataChanged, m_list->viewport(), qOverload<>(&QWidget::update));
    connect(m_list, &QTreeView::clicked, this, [this](const QModelIndex& index) { choose(index.row()); });
    connect(m_list, &QTreeView::activated, this, [this](const QModelIndex& index) { choose(index.row()); });
    for (const auto signal : { &ViewState::selectionChanged, &ViewState::catalogChanged, &ViewState::kindChanged,
             &ViewState::statChanged, &ViewState::rankChanged, &ViewState::runChanged })
        connect(state, signal, this, &AllKinds::moduleChanged);
}

std::vector<AllKinds::Line> AllKinds::linesOf(const store::Catalog& catalog, const QString& name, Rank rank, Stat stat)
{
    const series::RowIndex& index = store::rowsOf(catalog);
    std::vector<Line> lines;
    std::map<std::pair<Kind, ModuleKey>, std::size_t> places;
    const auto add = [&](const std::string& of, bool parametersAlone) {
        for (const series::RowIndex::Row* row : index.named(of)) {
            const auto shown = statOf(*row, stat);
            if (row->rank != rank || row->kind == Kind::Scalar || !shown
                || (parametersAlone && !isOfParameters(row->kind)))
                continue;
            Line line { row->kind, { QString::fromStdString(of), index.key(*row).slot }, *shown, row->attempts };
            const auto [known, isNew] = places.try_emplace({ line.kind, line.key }, lines.size());
            if (isNew)
                lines.push_back(std::move(line));
            else if (*shown == stat && lines[known->second].stat != stat) // a histogram has what statistics have not
                lines[known->second] = std::move(line);
        }
    };
    const auto own = index.named(name.toStdString());
    const bool isParameter
        = std::any_of(own.begin(), own.end(), [](const auto* row) { return isOfParameters(row->kind); });
    const QString owner = isParameter && name.contains(u'.') ? name.section(u'.', 0, -2) : name;
    const std::string module = owner.toStdString();
    add(module, false);
    std::vector<std::string_view> children; // in the run's order
    for (const store::SeriesInfo& series : catalog.series) {
        const std::string_view child = series.desc->name;
        if (isOfParameters(series.kind) && child.size() > module.size() + 1 && child.starts_with(module)
            && child[module.size()] == '.' && child.find('.', module.size() + 1) == std::string_view::npos
            && std::find(children.begin(), children.end(), child) == children.end())
            children.push_back(child);
    }
    for (const std::string_view child : children)
        add(std::string(child), true);
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.kind < b.kind; });
    return lines;
}

void AllKinds::moduleChanged()
{
    items::assertGuiThread();
    const ViewState& state = *m_state;
    m_lines.clear();
    if (state.catalog() && state.run() && !state.selection().empty())
        m_lines = linesOf(*state.catalog(), state.selection().front().name, state.rank(), state.stat());
    if (m_lines.size() < 2)
        m_lines.clear();
    setVisible(!m_lines.empty());
    m_model->setRowCount(static_cast<int>(m_lines.size()));
    int chosen = -1;
    // What has no such statistic has another, and says so; where none has it, the title names that.
    const bool hasChosen = m_lines.empty()
        || std::ranges::any_of(m_lines, [&state](const Line& line) { return line.stat == state.stat(); });
    m_stat = hasChosen ? state.stat() : m_lines.front().stat;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const Line& line = m_lines[i];
        const auto row = static_cast<int>(i);
        QString text = kindText(line.kind);
        QString behind;
        const bool isOwn = line.key.name == m_lines.front().key.name;
        const QString part
            = line.key.slot.hasText() ? items::shownSlot(line.key.slot) : line.key.name.section(u'.', -1);
        if (line.key.slot.hasText() || !isOwn || isOfParameters(line.kind))
            behind = QStringLiteral(" \u00b7 ") + part;
        if (line.stat != m_stat)
            behind += tr(" (%1)", "a statistic").arg(statText(line.stat));
        m_model->setData(m_model->index(row, 0), text, WhatRole);
        m_model->setData(m_model->index(row, 0), behind, BehindRole);
        m_model->setData(m_model->index(row, 0), text + behind, Qt::ToolTipRole);
        m_model->setData(m_model->index(row, 0), wordsFont(12), Qt::FontRole);
        m_model->setData(m_model->index(row, 0), QSize(10, kRowHeight), Qt::SizeHintRole);
        m_model->setData(m_model->index(row, 1), numberFont(12), Qt::FontRole);
        m_model->setData(m_model->index(row, 1), int(Qt::AlignRight | Qt::AlignVCenter), Qt::TextAlignmentRole);
        if (line.kind == state.kind() && line.key == state.selection().front())
            chosen = row;
    }
    fitNames();
    m_list->setFixedHeight(static_cast<int>(m_lines.size()) * m_list->sizeHintForRow(0) + 2);
    m_list->setCurrentIndex(chosen >= 0 ? m_model->index(chosen, 0) : QModelIndex());
    m_title->setText(tr("%1 of everything collected").arg(statText(m_stat)));
}

void AllKinds::setValues(const std::vector<series::CellValue>& values, Step step, std::optional<Step> above)
{
    std::optional<Step> newest;
    for (const series::CellValue& cell : values)
        newest = cell.state >= series::CellState::Absent ? std::max(newest, std::optional(cell.step)) : newest;
    // Not of the step that is named above them, they name their own.
    const bool isOfAbove = newest && newest == above.value_or(*newest);
    const QString title = isOfAbove          ? tr("%1 of everything collected")
        : newest                             ? tr("%1 of everything collected, at step %2")
        : m_state->ownRange().contains(step) ? tr("%1 of everything collected: nothing at step %2")
                                             : tr("%1 of everything collected: this run has no step %2");
    m_title->setText(
        isOfAbove ? title.arg(statText(m_stat)) : title.arg(statText(m_stat), formatStep(newest.value_or(step).value)));
    for (int row = 0; row < m_model->rowCount() && row < static_cast<int>(values.size()); ++row) {
        const series::CellValue& cell = values[static_cast<std::size_t>(row)];
        const QModelIndex index = m_model->index(row, 1);
        QString text = valueText(m_lines[static_cast<std::size_t>(row)].stat, cell);
        if (cell.state >= series::CellState::Absent && cell.step != newest)
            text = tr("%1 at %2", "a value, and its step").arg(text, formatStep(cell.step.value));
        m_model->setData(index, text);
        m_model->setData(index,
            series::isNonFinite(cell.state) ? QVariant::fromValue(&Theme::criticalText) : QVariant(), kThemeColorRole);
    }
    fitNames();
}

/// A kind gives way to what of the module it is: "weight, bef… · bias". Beside a value that says more than a number,
/// whose row would keep nothing of its kind, what it is of gives way down to its first letter: "weight, before · b…".
void AllKinds::fitNames()
{
    constexpr int kBesideName = 26; ///< the margins of a cell
    const QFontMetrics metrics(wordsFont(12));
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QModelIndex index = m_model->index(row, 0);
        const QString shown = m_model->index(row, 1).data().toString();
        // The name's column follows that of the values only when the event loop comes to it.
        const int value = std::max(m_list->header()->sectionSize(1), ValueDelegate::widthOf(shown));
        const int room = m_list->viewport()->width() - value - kBesideName;
        QString behind = index.data(BehindRole).toString();
        if (shown.contains(u' ') && !behind.isEmpty()) {
            constexpr qsizetype kFirstLetter = 4; // behind " · "
            const int least = metrics.horizontalAdvance(behind.left(kFirstLetter) + QChar(0x2026)) + 2;
            const int kind = metrics.horizontalAdvance(index.data(WhatRole).toString());
            behind = metrics.elidedText(behind, Qt::ElideRight, std::max(room - kind, least));
        }
        m_model->setData(index,
            metrics.elidedText(
                index.data(WhatRole).toString(), Qt::ElideRight, room - metrics.horizontalAdvance(behind))
                + behind);
    }
}

void AllKinds::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitNames();
}

void AllKinds::choose(int row)
{
    if (row < 0 || row >= static_cast<int>(m_lines.size()))
        return;
    const Line line = m_lines[static_cast<std::size_t>(row)]; // what follows makes new ones
    m_state->setKind(line.kind);
    m_state->setSelection({ line.key });
}

}
