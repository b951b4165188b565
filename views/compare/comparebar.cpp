// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparebar.h"

#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/dataview.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/runicon.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewbar.h>
#include <telltale/items/guithread.h>
#include <telltale/items/tooltiptext.h>

namespace telltale::views {
namespace {

constexpr int kMostName = 210; ///< px
constexpr int kIconButton = 32;
constexpr int kRoomForText = 760; ///< px of the bar
constexpr QSize kLine { 14, 16 };

class RunLabel : public QLabel {
public:
    explicit RunLabel(QWidget* parent)
        : QLabel(parent)
    {
        setFont(wordsFont(12));
        setTextFormat(Qt::PlainText);
        setContentsMargins(kLine.width() + 6, 0, 6, 0);
        setMinimumWidth(kLine.width());
        setMaximumWidth(kMostName);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const QRect room = contentsRect();
        painter.drawText(room, Qt::AlignVCenter, fontMetrics().elidedText(text(), Qt::ElideRight, room.width()));
        runIcon(0).paint(&painter, QRect(QPoint(0, (height() - kLine.height()) / 2), kLine));
    }
};

void choose(QComboBox* box, int data)
{
    box->setCurrentIndex(box->findData(data));
}

}

CompareBar::CompareBar(ViewState* state, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_runsBar = new ViewBar(this);
    m_shownBar = new ViewBar(this);
    layout->addWidget(m_runsBar);
    layout->addWidget(m_shownBar);
    m_runs = new QPushButton(icon(QStringLiteral("compare")), QString(), this);
    m_runs->setObjectName(QStringLiteral("compareChoose"));
    m_runs->setAccessibleName(tr("Choose the runs to compare with"));
    m_runs->setToolTip(m_runs->accessibleName());
    m_runs->setFont(wordsFont(12));
    m_runs->setFixedHeight(24);
    m_runsBar->addPart(m_runs); // the first: it stays where it is when what is beside it comes and goes
    m_reference = new RunLabel(this);
    m_runsBar->addPart(m_reference);
    m_againstBox = m_runsBar->addCombo(tr("B"), QStringLiteral("compareAgainst"), false);
    m_alignBox = m_runsBar->addCombo(tr("Aligned by"), QStringLiteral("compareAlign"));
    addChoice(m_alignBox, staticMetaObject, QT_TR_NOOP("step"), XAxis::Step);
    addChoice(m_alignBox, staticMetaObject, QT_TR_NOOP("samples"), XAxis::Samples);
    addChoice(m_alignBox, staticMetaObject, QT_TR_NOOP("tokens"), XAxis::Tokens);
    addChoice(m_alignBox, staticMetaObject, QT_TR_NOOP("time"), XAxis::Time);
    m_toleranceBox = m_runsBar->addCombo(tr("Tolerance"), QStringLiteral("compareTolerance"));
    m_toleranceBox->setToolTip(tr("Two values are equal that differ by no more than this share of the larger one"));
    m_toleranceBox->addItem(tr("exact"), 0.0);
    for (const double tolerance : { 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1 })
        m_toleranceBox->addItem(items::reformatNumber(QString::number(tolerance, 'g', 6)), tolerance);
    m_runsBar->addStretch();
    m_valueBox = m_shownBar->addCombo(tr("Show"), QStringLiteral("compareValue"));
    addChoice(m_valueBox, staticMetaObject, QT_TR_NOOP("difference"), HeatScale::Difference);
    addChoice(m_valueBox, staticMetaObject, QT_TR_NOOP("ratio"), HeatScale::Ratio);
    m_kindBox = m_shownBar->addCombo(tr("Kind"), QStringLiteral("compareKind"));
    m_shownBar->keepWhole(m_kindBox);
    m_statBox = m_shownBar->addCombo(tr("Statistic"), QStringLiteral("compareStatistic"));
    m_rankBox = m_shownBar->addCombo(tr("Rank"), QStringLiteral("compareRank"));
    m_orderBox = m_shownBar->addCombo(tr("Rows"), QStringLiteral("compareRows"));
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("model order"), RowOrder::Model);
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("by value"), RowOrder::Value);
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("similar rows together"), RowOrder::Clustered);
    m_belowBox = m_shownBar->addCombo(tr("Below"), QStringLiteral("compareBelow"));
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("curves"), BelowMap::Lines);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("band of all runs"), BelowMap::Band);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("what differs first"), BelowMap::Findings);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("configs that differ"), BelowMap::Facts);
    m_shownBar->addStretch();
    m_follow = m_shownBar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("compareFollow"));
    m_follow->setCheckable(true);
    connect(m_runs, &QPushButton::clicked, this, &CompareBar::chooseWanted);
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
    connect(state, &ViewState::followingChanged, this, [this] { m_follow->setChecked(m_state->isFollowing()); });
    m_follow->setChecked(state->isFollowing());
    connect(m_againstBox, &QComboBox::activated, this, [this](int index) {
        m_against = static_cast<std::size_t>(index) + 1;
        Q_EMIT questionChanged();
        Q_EMIT conformanceChanged();
    });
    connect(m_toleranceBox, &QComboBox::activated, this, &CompareBar::conformanceChanged);
    for (QComboBox* box : { m_alignBox, m_valueBox, m_orderBox })
        connect(box, &QComboBox::activated, this, &CompareBar::questionChanged);
    connect(m_belowBox, &QComboBox::activated, this, &CompareBar::belowChanged);
    connect(m_kindBox, &QComboBox::activated, this,
        [this] { m_state->setKind(static_cast<Kind>(m_kindBox->currentData().toInt())); });
    connect(m_statBox, &QComboBox::activated, this,
        [this] { m_state->setStat(static_cast<Stat>(m_statBox->currentData().toInt())); });
    connect(m_rankBox, &QComboBox::activated, this,
        [this] { m_state->setRank(Rank { m_rankBox->currentData().toInt() }); });
    fill();
}

void CompareBar::fill()
{
    items::assertGuiThread();
    const std::size_t others = m_state->comparedRuns().size();
    if (m_against > others)
        m_against = 1;
    const QSignalBlocker blockers[] { QSignalBlocker(m_againstBox), QSignalBlocker(m_kindBox),
        QSignalBlocker(m_statBox), QSignalBlocker(m_rankBox) };
    for (QComboBox* box : { m_againstBox, m_kindBox, m_statBox, m_rankBox })
        box->clear();
    for (std::size_t run = 1; run <= others; ++run) {
        addChoice(m_againstBox, tr("B: %1").arg(m_state->runName(run)),
            QString::fromStdString(m_state->comparedRuns()[run - 1].run->locator.text()), static_cast<int>(run));
        m_againstBox->setItemIcon(m_againstBox->count() - 1, runIcon(run));
    }
    m_againstBox->setCurrentIndex(static_cast<int>(m_against) - 1);
    const QString name = m_state->run() ? m_state->runName(0) : QString();
    m_reference->setText(tr("A: %1").arg(name));
    m_reference->setToolTip(items::toolTipText(name));
    m_reference->setVisible(m_state->run() != nullptr);
    // With nothing to compare with there is nothing else to choose.
    for (QComboBox* box : { m_againstBox, m_alignBox, m_toleranceBox })
        m_runsBar->setComboVisible(box, others > 0);
    m_shownBar->setVisible(others > 0);
    m_runs->setVisible(m_state->run() != nullptr);
    fitButton();
    if (const auto catalog = m_state->catalog()) {
        for (const Kind kind : kindsOf(*catalog)) {
            if (kind != Kind::Scalar)
                m_kindBox->addItem(kindText(kind), static_cast<int>(kind));
        }
        for (const Stat stat : statsOf(*catalog, m_state->kind()))
            m_statBox->addItem(statText(stat), static_cast<int>(stat));
        for (const Rank rank : ranksOf(*catalog, m_state->kind()))
            m_rankBox->addItem(QString::number(rank.value), rank.value);
    }
    choose(m_kindBox, static_cast<int>(m_state->kind()));
    choose(m_statBox, static_cast<int>(m_state->stat()));
    choose(m_rankBox, m_state->rank().value);
    m_shownBar->setComboVisible(m_rankBox, m_rankBox->count() > 1 || m_rankBox->currentIndex() < 0);
    for (QComboBox* box : { m_againstBox, m_kindBox, m_statBox, m_rankBox })
        box->updateGeometry();
}

/// What it opens is known to who has chosen runs: their names need the room more.
void CompareBar::fitButton()
{
    const bool isBrief = width() < kRoomForText && !m_state->comparedRuns().empty();
    m_runs->setText(isBrief ? QString() : tr("Choose runs"));
    m_runs->setFixedWidth(isBrief ? kIconButton : m_runs->sizeHint().width());
}

void CompareBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitButton();
}

std::vector<QComboBox*> CompareBar::ownBoxes() const
{
    return { m_againstBox, m_alignBox, m_toleranceBox, m_valueBox, m_orderBox, m_belowBox };
}

XAxis CompareBar::alignment() const
{
    return static_cast<XAxis>(m_alignBox->currentData().toInt());
}

double CompareBar::tolerance() const
{
    return m_toleranceBox->currentData().toDouble();
}

HeatScale CompareBar::value() const
{
    return static_cast<HeatScale>(m_valueBox->currentData().toInt());
}

RowOrder CompareBar::order() const
{
    return static_cast<RowOrder>(m_orderBox->currentData().toInt());
}

BelowMap CompareBar::below() const
{
    return static_cast<BelowMap>(m_belowBox->currentData().toInt());
}

}
