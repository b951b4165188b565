// SPDX-License-Identifier: GPL-3.0-or-later
#include "collectswitch.h"

#include <utility>

#include <QHBoxLayout>

#include <telltale/common/steeringstate.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/config/revision.h>
#include <telltale/config/textedit.h>
#include <telltale/items/comma.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/steering/switchbutton.h>

namespace telltale::shell {

using views::Theme;

namespace {

using State = RankSteering::State;

bool isPending(const RankSteering& rank)
{
    return rank.state == State::Offered || rank.state == State::Accepted;
}

}

CollectSwitch::CollectSwitch(QWidget* parent)
    : QWidget(parent)
    , m_switch(new views::SwitchButton(this))
    , m_name((new views::RoleLabel(QStringLiteral("dynamic_on"), &Theme::text, views::codeFont(13), this))->asData())
    , m_waiting((new views::RoleLabel(&Theme::text2, views::wordsFont(11), this))->asData())
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    row->addWidget(m_switch);
    row->addWidget(m_name);
    row->addWidget(m_waiting);
    m_switch->setObjectName(QStringLiteral("dynamicOn"));
    m_switch->setAccessibleName(QStringLiteral("dynamic_on"));
    setToolTip(tr("Whether the ranks of this run collect, as they report it; a click has all of them start or stop"));
    connect(m_switch, &QAbstractButton::clicked, this, &CollectSwitch::ask);
    hide();
}

void CollectSwitch::follow(views::ViewState* state, views::SteeringState* steering)
{
    m_state = state;
    m_steering = steering;
    connect(state, &views::ViewState::runChanged, this, &CollectSwitch::refresh);
    connect(steering, &views::SteeringState::changed, this, &CollectSwitch::refresh);
    refresh();
}

void CollectSwitch::setLive(bool on)
{
    if (std::exchange(m_isLive, on) != on && m_state != nullptr)
        refresh();
}

void CollectSwitch::refresh()
{
    int there = 0, known = 0, on = 0, gone = 0; // who is gone does nothing any more
    QStringList pending;
    const auto shown = runs();
    for (const RunSteering* run : shown) {
        for (const RankSteering& rank : run->ranks) {
            if (rank.isAway) {
                gone += rank.runs.empty() ? 0 : 1;
                continue;
            }
            ++there;
            known += rank.runs.empty() ? 0 : 1;
            on += collects(rank) ? 1 : 0;
            if (isPending(rank))
                pending.append(QString::number(rank.rank.value));
        }
    }
    constexpr int kMostNamed = 4;
    const bool isDeserted = there == 0 && gone > 0;
    setVisible(known > 0 || isDeserted);
    m_name->setText(shown.size() > 1 ? tr("dynamic_on of %n run(s)", nullptr, static_cast<int>(shown.size()))
                                     : QStringLiteral("dynamic_on"));
    m_switch->setChecked(on > 0);
    m_switch->setEnabled(known > 0);
    m_isOff = (known > 0 || isDeserted) && on == 0;
    m_switch->setWaiting(!pending.isEmpty() || (on > 0 && on < known));
    const QString ranks = QStringList(pending.mid(0, kMostNamed)).join(items::comma())
        + (pending.size() > kMostNamed ? QStringLiteral(", \u2026") : QString());
    m_waiting->setText(isDeserted && shown.size() > 1 ? tr("no rank connected") // of one the bar says it
            : !pending.isEmpty()                      ? tr("waits for ranks %1").arg(ranks)
            : on > 0 && on < known                    ? tr("on %1 of %2 ranks").arg(on).arg(known)
                                                      : QString());
    m_waiting->setVisible(!m_waiting->text().isEmpty());
}

void CollectSwitch::ask(bool on)
{
    for (const RunSteering* run : m_steering->offer ? runs() : std::vector<const RunSteering*>()) {
        std::string running;
        for (const RankSteering& rank : run->ranks)
            running = running.empty() ? rank.runs : running;
        ConfigRequest request;
        request.runId = run->runId;
        request.config = config::withMember(running, "/dynamic_on", on ? "true" : "false");
        request.author = qEnvironmentVariable("USER", QStringLiteral("window")).toStdString();
        m_steering->offer(request);
    }
    refresh(); // it shows what the ranks do, not what was asked for
}

std::vector<const RunSteering*> CollectSwitch::runs() const
{
    if (auto chosen = m_steering->chosen(); chosen.size() > 1)
        return chosen;
    const auto run = m_isLive ? m_state->run() : nullptr;
    const RunSteering* steering = run ? m_steering->of(run->id) : nullptr;
    return steering != nullptr ? std::vector { steering } : std::vector<const RunSteering*>();
}

bool CollectSwitch::collects(const RankSteering& rank)
{
    constexpr std::size_t kMostKept = 64;
    const auto known = m_collects.find(rank.runs);
    if (known != m_collects.end())
        return known->second;
    if (m_collects.size() >= kMostKept)
        m_collects.clear();
    const auto config = config::parseMonitorConfig(rank.runs);
    return m_collects[rank.runs] = config && config->config.dynamicOn;
}

}
