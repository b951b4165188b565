// SPDX-License-Identifier: GPL-3.0-or-later
#include "differencetrees.h"

#include <algorithm>
#include <cmath>

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include <telltale/common/columnfit.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/readout.h>
#include <telltale/common/runicon.h>
#include <telltale/common/theme.h>
#include <telltale/items/comma.h>
#include <telltale/items/guithread.h>
#include <telltale/items/shownname.h>
#include <telltale/items/tooltiptext.h>

#include "comparewords.h"

namespace telltale::views {
namespace {

constexpr int kRowRole = Qt::UserRole;
constexpr int kAlikeRole = Qt::UserRole + 1;
constexpr int kFirstRun = 2; ///< column of the facts
constexpr int kMostLines = 4; ///< of a value
constexpr int kValueRow = 22; ///< px
constexpr int kValueInsets = 16; ///< px of a column beside the words

/// A long value has several lines. Of one that has more than are shown, or a word that is wider than they are, what all
/// runs begin with is left out, so that what differs is seen; a checksum that is still too wide keeps both ends.
class ValueDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    /// A line of a command breaks at no hyphen.
    static QString unbroken(QString text) { return text.replace(u'-', QStringLiteral("-\u2060")); }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem own(option);
        initStyleOption(&own, index);
        const int lines = std::min(linesOf(own, index), kMostLines);
        return { own.fontMetrics.horizontalAdvance(own.text) + kValueInsets,
            std::max(kValueRow, lines * own.fontMetrics.lineSpacing() + 6) };
    }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        if (const QVariant color = index.data(kThemeColorRole); color.canConvert<ThemeColor>()) {
            for (const QPalette::ColorRole role : { QPalette::Text, QPalette::HighlightedText })
                option->palette.setColor(role, Theme::current().*color.value<ThemeColor>());
        }
        option->features |= QStyleOptionViewItem::WrapText;
        const int alike = index.data(kAlikeRole).toInt();
        const QString whole = option->text;
        option->text = unbroken(whole);
        if (alike > 0 && (linesOf(*option, index) > kMostLines || isTooWide(*option, index)))
            option->text = QChar(0x2026) + unbroken(whole.mid(alike));
        if (!whole.contains(u' ') && isTooWide(*option, index))
            option->text = option->fontMetrics.elidedText(option->text, Qt::ElideMiddle, widthOf(*option, index));
    }

private:
    static int widthOf(const QStyleOptionViewItem& option, const QModelIndex& index)
    {
        return static_cast<const QTreeView*>(option.widget)->columnWidth(index.column()) - kValueInsets;
    }

    static bool isTooWide(const QStyleOptionViewItem& option, const QModelIndex& index)
    {
        return std::ranges::any_of(option.text.split(u' '),
            [&](const QString& word) { return option.fontMetrics.horizontalAdvance(word) > widthOf(option, index); });
    }

    static int linesOf(const QStyleOptionViewItem& option, const QModelIndex& index)
    {
        const int width = widthOf(option, index);
        return option.fontMetrics.boundingRect(QRect(0, 0, width, 1), Qt::TextWordWrap, option.text).height()
            / option.fontMetrics.lineSpacing();
    }
};

/// Letters that all values begin with, up to the word before the first one that differs; of single words a few letters
/// fewer than are the same.
qsizetype alikeAtFront(const QStringList& values)
{
    if (values.size() < 2)
        return 0;
    const auto [first, last] = std::ranges::minmax(values);
    const auto end = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
    QString alike = first.left(end - first.begin());
    constexpr qsizetype kKept = 4;
    if (std::ranges::none_of(values, [](const QString& value) { return value.contains(u' '); }))
        return std::max<qsizetype>(0, alike.size() - kKept);
    for (int word = 0; word < 2; ++word)
        alike.truncate(alike.lastIndexOf(u' '));
    return alike.isEmpty() ? 0 : alike.size() + 1;
}

/// Of a checksum beside another the first eight digits, or the last where those are the same.
QString halfOf(const QString& sum, const QString& other)
{
    constexpr qsizetype kDigits = 8;
    if (sum.size() <= kDigits)
        return sum;
    return sum.left(kDigits) == other.left(kDigits) ? QChar(0x2026) + sum.right(kDigits)
                                                    : sum.left(kDigits) + QChar(0x2026);
}

void alignRight(QTreeWidgetItem* item, int column)
{
    item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    item->setFont(column, numberFont(12));
}

}

DifferenceTree::DifferenceTree(QWidget* parent)
    : QTreeWidget(parent)
{
    setFrameShape(QFrame::NoFrame);
    setRootIsDecorated(false);
    setIndentation(0);
    setUniformRowHeights(true);
    setFont(wordsFont(12));
    header()->setFont(wordsFont(11));
    header()->setFixedHeight(22);
    header()->setMinimumSectionSize(40);
    header()->setStretchLastSection(false);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
}

void DifferenceTree::resizeEvent(QResizeEvent* event)
{
    QTreeWidget::resizeEvent(event);
    fitColumns();
}

void DifferenceTree::setEmptyText(const QString& text)
{
    m_emptyText = text;
    viewport()->update();
}

void DifferenceTree::paintEvent(QPaintEvent* event)
{
    QTreeWidget::paintEvent(event);
    if (topLevelItemCount() > 0)
        return;
    QPainter painter(viewport());
    paintEmptyState(painter, viewport()->rect(), m_emptyText, Theme::current());
}

FindingsTree::FindingsTree(QWidget* parent)
    : DifferenceTree(parent)
{
    setObjectName(QStringLiteral("compareFindings"));
    setAccessibleName(tr("What differs first and most"));
    setColumnCount(ColumnCount);
    for (const int column : { NameColumn, KindColumn })
        setItemDelegateForColumn(column, new EndDelegate(this));
    setHeaderLabels(
        { tr("Difference"), tr("Step"), tr("Rank"), tr("Name"), tr("Quantity"), tr("A"), tr("B"), tr("Share") });
    headerItem()->setToolTip(ShareColumn, tr("The difference as a share of the larger of the two values"));
    for (const int column : { StepColumn, RankColumn, AColumn, BColumn, ShareColumn })
        headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    const auto go = [this](QTreeWidgetItem* item) {
        Q_EMIT goWanted(m_rows[static_cast<std::size_t>(item->data(0, kRowRole).toInt())]);
    };
    connect(this, &QTreeWidget::itemActivated, this, go);
    connect(this, &QTreeWidget::itemClicked, this, go);
}

/// All columns in sight: checksums give first where there is little room, then words; numbers do not, and the name gets
/// what is left. A checksum that has no room shows the half of it that differs.
void FindingsTree::fitColumns()
{
    // A scroll bar that comes or goes meanwhile has them fitted once more, so no width is asked of a column.
    int wholeA = 0, wholeB = 0;
    const auto setSums = [&](bool areCut) {
        for (int row = 0; row < topLevelItemCount(); ++row) {
            const judge::Deviation& one = m_rows[static_cast<std::size_t>(row)];
            if (!isIdentity(one.stat))
                continue;
            QTreeWidgetItem* item = topLevelItem(row);
            const auto [a, b] = deviationTexts(one);
            item->setText(AColumn, areCut ? halfOf(a, b) : a);
            item->setText(BColumn, areCut ? halfOf(b, a) : b);
            wholeA = std::max(wholeA, sizeHintForIndex(indexFromItem(item, AColumn)).width());
            wholeB = std::max(wholeB, sizeHintForIndex(indexFromItem(item, BColumn)).width());
        }
    };
    setSums(false);
    views::fitColumns(*this, NameColumn,
        { { AColumn, m_ofValues }, { BColumn, m_ofValues }, { WhereColumn, 90 }, { NameColumn, 130 },
            { KindColumn, 130 } });
    setSums(columnWidth(AColumn) < wholeA || columnWidth(BColumn) < wholeB);
}

void FindingsTree::addRow(const QString& where, const judge::Deviation& deviation)
{
    auto* item = new QTreeWidgetItem(this);
    item->setData(0, kRowRole, static_cast<int>(m_rows.size()));
    m_rows.push_back(deviation);
    const auto [a, b] = deviationTexts(deviation);
    const QString quantity = kindText(deviation.kind) + items::comma() + statText(deviation.stat);
    const QStringList texts { where, formatStep(deviation.step.value), QString::number(deviation.rank.value),
        items::shownTensor(QString::fromStdString(deviation.key.name), deviation.key.slot, u':'), quantity, a, b,
        std::isfinite(deviation.relative) ? shareText(deviation.relative) : QString() };
    for (int column = 0; column < ColumnCount; ++column)
        item->setText(column, texts[column]);
    for (const int column : { WhereColumn, NameColumn, KindColumn }) // which may be cut
        item->setToolTip(column, items::toolTipText(texts[column]));
    item->setFont(NameColumn, codeFont(12));
    const QFontMetricsF metrics(numberFont(12));
    for (const auto& [column, other] : { std::pair(AColumn, BColumn), std::pair(BColumn, AColumn) }) {
        const bool isSum = isIdentity(deviation.stat);
        item->setToolTip(column, items::toolTipText(texts[column]));
        const QString least = isSum ? halfOf(texts[column], texts[other]) : texts[column];
        // A pixel more: of a number that is a fraction of one too wide the exponent would be cut.
        m_ofValues
            = std::max(m_ofValues, static_cast<int>(std::ceil(metrics.horizontalAdvance(least))) + kValueInsets + 1);
    }
    for (const int column : { StepColumn, RankColumn, AColumn, BColumn, ShareColumn })
        alignRight(item, column);
    if (series::isNonFinite(deviation.a.state))
        item->setData(AColumn, kThemeColorRole, QVariant::fromValue(&Theme::criticalText));
    if (series::isNonFinite(deviation.b.state))
        item->setData(BColumn, kThemeColorRole, QVariant::fromValue(&Theme::criticalText));
}

void FindingsTree::set(const judge::Comparison* found)
{
    items::assertGuiThread();
    clear();
    m_rows.clear();
    m_ofValues = 0;
    if (!found)
        return;
    int place = 0;
    for (const judge::Deviation& one : found->first)
        addRow(++place == 1 ? tr("first") : tr("at that step"), one);
    for (const judge::Comparison::OfKind& of : found->kinds) {
        if (of.largest)
            addRow(tr("largest of its kind"), *of.largest);
    }
    fitColumns();
}

FactsTree::FactsTree(QWidget* parent)
    : DifferenceTree(parent)
{
    setObjectName(QStringLiteral("compareFacts"));
    setAccessibleName(tr("Configs and hyperparameters that differ"));
    setUniformRowHeights(false);
    m_values = new ValueDelegate(this);
    connect(header(), &QHeaderView::sectionResized, this, [this] { scheduleDelayedItemsLayout(); });
}

void FactsTree::set(const QStringList& runs, const std::vector<judge::DifferingFact>& facts)
{
    items::assertGuiThread();
    clear();
    setColumnCount(kFirstRun + static_cast<int>(runs.size()));
    setHeaderLabels(QStringList { tr("Of"), tr("Field") } + runs);
    for (int run = 0; run < static_cast<int>(runs.size()); ++run) {
        headerItem()->setIcon(kFirstRun + run, runIcon(static_cast<std::size_t>(run)));
        setItemDelegateForColumn(kFirstRun + run, m_values);
    }
    for (const judge::DifferingFact& fact : facts) {
        auto* item = new QTreeWidgetItem(this);
        item->setText(0, factSectionText(fact.section));
        item->setData(0, kThemeColorRole, QVariant::fromValue(&Theme::text2));
        item->setText(1, QString::fromStdString(fact.name));
        item->setFont(1, codeFont(12));
        item->setToolTip(1, items::toolTipText(item->text(1)));
        QStringList known;
        for (const auto& value : fact.values) {
            if (value)
                known.append(factValueText(fact, *value));
        }
        for (std::size_t run = 0; run < fact.values.size(); ++run) {
            const int column = kFirstRun + static_cast<int>(run);
            const auto& value = fact.values[run];
            item->setText(column, value ? factValueText(fact, *value) : QString(QChar(0x2013)));
            item->setFont(column, codeFont(12));
            item->setData(column, kAlikeRole, value ? static_cast<int>(alikeAtFront(known)) : 0);
            item->setToolTip(column, ValueDelegate::unbroken(items::toolTipText(item->text(column))));
            if (value != fact.values.front())
                item->setData(column, kThemeColorRole, QVariant::fromValue(&Theme::accent));
        }
    }
    fitColumns();
}

/// All runs in sight where that is possible, each with as much of what the words leave.
void FactsTree::fitColumns()
{
    constexpr int kMostField = 240;
    constexpr int kLeastRun = 110;
    int room = viewport()->width() - fitToWords(*this, 0);
    setColumnWidth(1, std::min(fitToWords(*this, 1), kMostField));
    room -= columnWidth(1);
    const int runs = std::max(columnCount() - kFirstRun, 1);
    for (int column = kFirstRun; column < columnCount(); ++column)
        setColumnWidth(column, std::max(room / runs, kLeastRun));
}

}
