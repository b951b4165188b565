// SPDX-License-Identifier: GPL-3.0-or-later
// The bar above the view, and what is chosen in it.
#include "attentionview.h"

#include <algorithm>

#include <QSignalBlocker>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QToolButton>

#include <telltale/common/onerunnote.h>
#include <telltale/common/rankbox.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/viewbar.h>

#include "attentioncanvas.h"
#include "headmapscanvas.h"
#include "headmapspanel.h"

namespace telltale::views {

namespace {

constexpr std::array kValueNames { QLatin1String("entropy"), QLatin1String("entropy share"),
    QLatin1String("softmax max"), QLatin1String("max logit") };
constexpr int kSpread = -1; ///< in place of a rank
constexpr std::array kBelowNames { QLatin1String("curves"), QLatin1String("strips"), QLatin1String("maps") };

}

void AttentionView::buildBar()
{
    m_axesBox = m_bar->addCombo(tr("Axes"), QStringLiteral("attentionAxes"));
    addChoice(m_axesBox, staticMetaObject, QT_TR_NOOP("layer × head"), HeadAxes::LayerByHead);
    addChoice(m_axesBox, staticMetaObject, QT_TR_NOOP("rank × head"), HeadAxes::RankByHead);
    m_layerBox = m_bar->addCombo(tr("Layer"), QStringLiteral("attentionLayer"));
    const std::array labels { tr("Left map"), tr("Right map") };
    const std::array names { QStringLiteral("attentionLeft"), QStringLiteral("attentionRight") };
    for (std::size_t side = 0; side < m_valueBoxes.size(); ++side) {
        m_valueBoxes[side] = m_bar->addCombo(labels[side], names[side], false); // they stand as their maps do
        for (std::size_t i = 0; i < kHeadValues.size(); ++i)
            addChoice(
                m_valueBoxes[side], headValueText(kHeadValues[i]), kValueNames[i], static_cast<int>(kHeadValues[i]));
        m_valueBoxes[side]->setCurrentIndex(m_valueBoxes[side]->findData(static_cast<int>(m_values[side])));
        connect(m_valueBoxes[side], &QComboBox::activated, this, [this, side] {
            setValue(static_cast<int>(side), static_cast<HeadValue>(m_valueBoxes[side]->currentData().toInt()));
        });
    }
    m_rankBox = m_bar->addCombo(tr("Rank"), QStringLiteral("attentionRank"));
    m_orderBox = m_bar->addCombo(tr("Heads"), QStringLiteral("attentionHeads"));
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("by number"), HeadOrder::Number);
    addChoice(m_orderBox, staticMetaObject, QT_TR_NOOP("by value"), HeadOrder::Value);
    m_belowBox = m_bar->addCombo(tr("Below"), QStringLiteral("attentionBelow"));
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("curves"), BelowMaps::Curves);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("strips"), BelowMaps::Strips);
    addChoice(m_belowBox, staticMetaObject, QT_TR_NOOP("maps"), BelowMaps::HeadMaps);
    m_bar->addStretch();
    addOneRunNote(m_bar, context().state);
    m_follow = m_bar->addButton(
        QStringLiteral("follow"), tr("Follow the newest steps"), tr("Space"), QStringLiteral("attentionFollow"));
    m_follow->setCheckable(true);

    ViewState* state = context().state;
    connect(m_orderBox, &QComboBox::activated, this,
        [this] { setOrder(static_cast<HeadOrder>(m_orderBox->currentData().toInt())); });
    connect(m_belowBox, &QComboBox::activated, this,
        [this] { setBelow(static_cast<BelowMaps>(m_belowBox->currentData().toInt())); });
    connect(m_axesBox, &QComboBox::activated, this,
        [this] { setAxes(static_cast<HeadAxes>(m_axesBox->currentData().toInt())); });
    connect(m_layerBox, &QComboBox::activated, this, [this] { setLayer(m_layerBox->currentData().toString()); });
    connect(m_rankBox, &QComboBox::activated, this, [this, state] {
        const int chosen = m_rankBox->currentData().toInt();
        setSpread(chosen == kSpread);
        if (chosen != kSpread)
            state->setRank(Rank { chosen });
    });
    connect(m_follow, &QToolButton::clicked, state, &ViewState::setFollowing);
    connect(m_canvas, &AttentionCanvas::headPicked, this, &AttentionView::pickHead);
    connect(m_headMaps->canvas(), &HeadMapsCanvas::headPicked, this, &AttentionView::pickHead);
    setAxes(m_axes);
    keepChoices({ m_axesBox, m_layerBox, m_valueBoxes[0], m_valueBoxes[1], m_orderBox, m_belowBox, m_rankBox });
}

void AttentionView::fillRanks()
{
    const ViewState& state = *context().state;
    const QSignalBlocker blocker(m_rankBox);
    fillRankBox(m_rankBox, state, Kind::Attention);
    if (m_rankBox->count() > 1) {
        m_rankBox->addItem(tr("spread of all"), kSpread);
        // Where the rows are ranks there is none. The box stays as wide as it is.
        qobject_cast<QStandardItemModel*>(m_rankBox->model())
            ->item(m_rankBox->count() - 1)
            ->setEnabled(m_axes == HeadAxes::LayerByHead);
    }
    if (m_isSpread)
        m_rankBox->setCurrentIndex(m_rankBox->findData(kSpread));
    m_rankBox->updateGeometry();
    m_bar->setVisible(m_rankBox->count() > 0); // nothing to choose from
    m_canvas->setEmptyText(emptyText());
}

void AttentionView::setValue(int side, HeadValue value)
{
    const auto at = static_cast<std::size_t>(side);
    m_values[at] = value;
    m_valueBoxes[at]->setCurrentIndex(m_valueBoxes[at]->findData(static_cast<int>(value)));
    askSoon(Urgency::Now);
}

void AttentionView::setAxes(HeadAxes axes)
{
    m_axes = axes;
    m_axesBox->setCurrentIndex(m_axesBox->findData(static_cast<int>(axes)));
    if (axes == HeadAxes::RankByHead)
        m_isSpread = false;
    m_bar->setComboVisible(m_layerBox, axes == HeadAxes::RankByHead);
    fillRanks();
    askSoon(Urgency::Now);
}

void AttentionView::setSpread(bool isSpread)
{
    m_isSpread = isSpread && m_axes == HeadAxes::LayerByHead;
    fillRanks();
    askSoon(Urgency::Now);
}

void AttentionView::setLayer(const QString& name)
{
    m_layer = name;
    askSoon(Urgency::Now);
}

void AttentionView::fillLayers(const QStringList& names, const AttentionPicture& shown)
{
    const QSignalBlocker blocker(m_layerBox);
    m_layerBox->clear();
    for (const QString& name : names)
        m_layerBox->addItem(shortNameOf(name), name);
    const QString now = shown.isEmpty() ? QString() : shown.layers.front().name;
    m_layerBox->setCurrentIndex(m_layerBox->findData(now));
    m_layerBox->updateGeometry();
}

void AttentionView::setOrder(HeadOrder order)
{
    m_order = order;
    m_orderBox->setCurrentIndex(m_orderBox->findData(static_cast<int>(order)));
    askSoon(Urgency::Now);
}

void AttentionView::setBelow(BelowMaps below)
{
    m_below = below;
    m_belowBox->setCurrentIndex(m_belowBox->findData(static_cast<int>(below)));
    for (QStackedWidget* stack : m_stacks)
        stack->setCurrentIndex(below == BelowMaps::Strips ? 1 : 0);
    m_belowStack->setCurrentIndex(below == BelowMaps::HeadMaps ? 1 : 0);
    askSoon(Urgency::Now);
}

QString AttentionView::belowName() const
{
    return kBelowNames.at(static_cast<std::size_t>(m_below));
}

void AttentionView::setBelowName(const QString& name)
{
    const auto found = std::find(kBelowNames.begin(), kBelowNames.end(), name);
    if (found != kBelowNames.end())
        setBelow(static_cast<BelowMaps>(found - kBelowNames.begin()));
}

void AttentionView::setChoices(const QStringList& choices)
{
    // Which layers there are is known with the first answer.
    for (const QString& one : choices) {
        const QString layer = one.section(u'=', 1);
        if (one.section(u'=', 0, 0) == m_layerBox->objectName() && m_layerBox->findData(layer) < 0)
            m_layerBox->addItem(shortNameOf(layer), layer);
    }
    DataView::setChoices(choices);
}

}
