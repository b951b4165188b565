// SPDX-License-Identifier: GPL-3.0-or-later
#include "toolbar.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QAction>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

#include <telltale/common/costtext.h>
#include <telltale/common/theme.h>
#include <telltale/runs/rolelabel.h>

#include "collectswitch.h"
#include "iconbutton.h"
#include "pulse.h"
#include "runbutton.h"
#include "sparkline.h"

namespace telltale::shell {

namespace {

constexpr int kBesideLine = 12; ///< px between the line and what stands on either side of it
constexpr int kBesidePart = 20; ///< px between two parts
constexpr int kSearchWords = 120; ///< px that the search takes beyond its least, to say what it searches
constexpr double kSlow = 0.5; ///< steps a second: below it, seconds a step say more

QString awayText(double seconds)
{
    constexpr int kMinute = 60, kHour = 3600;
    const int whole = static_cast<int>(std::min(seconds, 1e9));
    const QString time = whole < 2 * kMinute ? ToolBar::tr("%1 s").arg(whole)
        : whole < 2 * kHour                  ? ToolBar::tr("%1 min").arg(whole / kMinute)
                                             : ToolBar::tr("%1 h").arg(whole / kHour);
    return ToolBar::tr("no rank connected for %1").arg(time);
}

}

using views::RoleLabel;
using views::Theme;

ToolBar::ToolBar(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QHBoxLayout(this))
    , m_run(new RunButton(this))
    , m_collect(new CollectSwitch(this))
    , m_apply(new QPushButton(this))
    , m_palette(new PaletteButton(this))
    , m_waiting(new RoleLabel(&Theme::text2, views::wordsFont(12), this))
    , m_spark(new SparkLine(this))
{
    setObjectName(QStringLiteral("toolBar"));
    setFixedHeight(44);
    m_layout->setContentsMargins(10, 0, 8, 1);
    m_layout->setSpacing(kBesidePart);
    m_layout->addWidget(m_run);
    auto* line = new QWidget(this); // a part of the layout: a painted one would stay where the button once ended
    line->setObjectName(QStringLiteral("toolBarLine"));
    line->setBackgroundRole(QPalette::Mid);
    line->setAutoFillBackground(true);
    line->setFixedSize(1, 20);
    m_layout->addSpacing(kBesideLine - m_layout->spacing());
    m_layout->addWidget(line);
    m_layout->addSpacing(kBesideLine - m_layout->spacing());
    m_layout->addWidget(m_collect);
    m_apply->setObjectName(QStringLiteral("toolBarApply"));
    m_apply->setAutoDefault(false);
    m_layout->addWidget(m_apply);
    m_layout->addWidget(m_waiting);
    m_step = makeFact(tr("step"), {}, 9);
    m_layout->addWidget(m_spark);
    m_rate = makeFact({}, tr("steps/s"), 6);
    m_ranks = makeFact(tr("ranks"), {}, 8);
    m_lag = makeFact(tr("lag"), {}, 4);
    m_dropped = makeFact(tr("dropped"), {}, 7);
    m_samples = makeFact({}, tr("samples/s"), 3);
    m_cost = makeFact(tr("monitoring"), {}, 5);
    m_cost.box->setObjectName(QStringLiteral("monitoringCost"));
    m_layout->addStretch(1);
    m_layout->addWidget(m_palette, 10);
    show({});
}

ToolBar::Fact ToolBar::makeFact(const QString& before, const QString& after, int needed)
{
    Fact fact;
    fact.needed = needed;
    fact.box = new QWidget(this);
    auto* row = new QHBoxLayout(fact.box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    fact.before = new RoleLabel(before, &Theme::text2, views::wordsFont(12), fact.box);
    fact.value = (new RoleLabel(&Theme::text, views::numberFont(14, 500), fact.box))->asData();
    if (!after.isEmpty()) // beside its unit, whatever room is kept for it
        fact.value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    fact.after = new RoleLabel(after, &Theme::text2, views::wordsFont(12), fact.box);
    for (RoleLabel* label : { fact.before, fact.value, fact.after }) {
        row->addWidget(label);
        label->setVisible(label == fact.value || !label->text().isEmpty());
    }
    m_layout->addWidget(fact.box);
    return fact;
}

void ToolBar::addAction(QAction* action)
{
    if (m_layout->itemAt(m_layout->count() - 1)->widget() != m_palette)
        m_layout->addSpacing(-12);
    m_layout->addWidget(iconButton(action, this));
}

void ToolBar::setApplyAction(QAction* action)
{
    const auto take = [this, action] {
        m_apply->setText(action->iconText());
        m_apply->setToolTip(action->toolTip());
        m_apply->setEnabled(action->isEnabled());
    };
    connect(action, &QAction::changed, m_apply, take);
    connect(m_apply, &QPushButton::clicked, action, &QAction::trigger);
    take();
}

void ToolBar::show(const Pulse& pulse)
{
    if (pulse.hasRun)
        m_run->setRun(pulse.shownName, pulse.state);
    else
        m_run->clearRun();
    if (std::exchange(m_runName, pulse.shownName) != pulse.shownName) {
        for (Fact* fact : { &m_step, &m_rate, &m_ranks, &m_lag, &m_dropped, &m_samples, &m_cost })
            fact->widest = 0;
    }
    const bool isAway = pulse.hasRun && pulse.live && pulse.awaySeconds >= 0;
    m_waiting->setText(isAway ? awayText(pulse.awaySeconds) : tr("Waiting for the first agent"));
    m_waiting->setColor(isAway ? &Theme::warnText : &Theme::text2);
    m_waiting->setVisible(!pulse.hasRun || isAway);

    m_collect->setLive(pulse.hasRun && pulse.live);
    m_applyWanted = pulse.hasRun && pulse.live && !m_apply->text().isEmpty();
    m_step.wanted = pulse.hasRun && pulse.step.value >= 0;
    m_ranks.wanted = pulse.hasRun && pulse.ranks > 0;
    for (Fact* fact : { &m_rate, &m_lag, &m_dropped, &m_samples })
        fact->wanted = pulse.hasRun && pulse.live;
    m_rate.wanted = m_samples.wanted = m_rate.wanted && !isAway;
    m_sparkWanted = pulse.hasRun && pulse.live && pulse.rates.size() > 1;

    m_step.value->setText(views::formatStep(pulse.step.value));
    const bool isSlow = pulse.stepsPerSecond > 0 && pulse.stepsPerSecond < kSlow;
    m_rate.value->setText(
        isSlow ? tr("%1 s").arg(1 / pulse.stepsPerSecond, 0, 'f', 1) : QString::number(pulse.stepsPerSecond, 'f', 1));
    m_rate.after->setText(isSlow ? tr("a step") : tr("steps/s"));
    m_ranks.value->setText(pulse.live ? QStringLiteral("%1 / %2").arg(pulse.connectedRanks).arg(pulse.ranks)
                                      : QString::number(pulse.ranks));
    // Of a run that nobody sends any more, the last one would look like now's.
    m_lag.value->setText(
        pulse.connectedRanks > 0 ? tr("%1 s").arg(pulse.lagSeconds, 0, 'f', 1) : QString(QChar(0x2013)));
    m_dropped.value->setText(views::formatStep(static_cast<qint64>(pulse.dropped)));
    m_dropped.value->setColor(pulse.dropped > 0 ? &Theme::warnText : &Theme::text);
    m_samples.value->setText(views::formatShort(pulse.samplesPerSecond));
    // An agent says what it takes some seconds late: of one that collects no longer it would be what it took before.
    m_cost.wanted = pulse.hasRun && pulse.cost.isKnown() && !m_collect->isOff();
    m_costText = pulse.cost.text();
    m_costShare = views::formatShare(pulse.cost.share());
    m_cost.box->setToolTip(m_cost.wanted ? pulse.cost.explanation() : QString());
    m_spark->set(pulse.rates);
    fit();
}

void ToolBar::showStep(Step step)
{
    m_step.wanted = step.value >= 0;
    m_step.value->setText(views::formatStep(step.value));
    fit();
}

void ToolBar::fit()
{
    Fact* facts[] = { &m_step, &m_rate, &m_ranks, &m_lag, &m_dropped, &m_samples, &m_cost };
    int room = width() - m_run->sizeHint().width() - 300;
    room -= m_collect->isVisibleTo(this) ? m_collect->sizeHint().width() + kBesidePart : 0;
    room -= m_waiting->isHidden() ? 0 : m_waiting->sizeHint().width() + kBesidePart;
    const auto place = [&room](QWidget* part, bool isWanted, QSize size) {
        const int width = size.width() + kBesidePart;
        part->setVisible(isWanted && room >= width);
        room -= isWanted ? width : 0;
    };
    const auto keepWidest = [](Fact& fact) {
        fact.value->setMinimumWidth(0); // its hint has that in it
        fact.widest = std::max(fact.widest, fact.value->sizeHint().width());
        fact.value->setMinimumWidth(fact.widest);
    };
    const int share = m_cost.value->fontMetrics().horizontalAdvance(QStringLiteral("0.00 %"));
    const auto shortenCost = [this, share] {
        m_cost.value->setText(m_costShare);
        m_cost.value->setMinimumWidth(share);
    };
    std::sort(std::begin(facts), std::end(facts), [](const Fact* a, const Fact* b) { return a->needed > b->needed; });
    for (Fact* fact : facts) {
        if (fact == &m_lag)
            place(m_apply, m_applyWanted, m_apply->sizeHint());
        if (fact == &m_samples) {
            room -= kSearchWords;
            place(m_spark, m_sparkWanted, m_spark->minimumSizeHint());
        }
        if (fact == &m_cost)
            shortenCost();
        else
            keepWidest(*fact);
        place(fact->box, fact->wanted, fact->box->sizeHint());
    }
    const int least = m_spark->minimumSizeHint().width();
    const int more = std::clamp(room, 0, m_spark->sizeHint().width() - least);
    m_spark->setFixedWidth(least + more);
    room -= m_sparkWanted ? more : 0;
    const int costBefore = m_cost.box->sizeHint().width();
    m_cost.value->setText(m_costText);
    keepWidest(m_cost);
    if (m_cost.box->sizeHint().width() - costBefore > room)
        shortenCost();
}

void ToolBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fit();
}

void ToolBar::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), theme.window);
    painter.fillRect(0, 0, width(), 1, theme.border);
    painter.fillRect(0, height() - 1, width(), 1, theme.border);
}

}
