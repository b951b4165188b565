// SPDX-License-Identifier: GPL-3.0-or-later
#include "statusline.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QMouseEvent>
#include <QPainter>

#include <telltale/common/theme.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/runs/stateglyph.h>

#include "keychip.h"
#include "pulse.h"

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

StatusLine::StatusLine(QWidget* parent)
    : QStatusBar(parent)
    , m_layout(nullptr)
    , m_hints(new QWidget(this))
    , m_state(new RoleLabel(&Theme::text2, views::wordsFont(11), this))
    , m_work((new RoleLabel(&Theme::text, views::wordsFont(11), this))->asData())
    , m_store(new RoleLabel(&Theme::text2, views::wordsFont(11), this))
    , m_perSample(new RoleLabel(&Theme::text2, views::wordsFont(11), this))
    , m_agents(new RoleLabel(&Theme::text2, views::wordsFont(11), this))
    , m_spool(new RoleLabel(&Theme::text2, views::wordsFont(11), this))
    , m_frames((new RoleLabel(&Theme::text2, views::numberFont(11), this))->asData())
{
    setObjectName(QStringLiteral("statusLine"));
    setSizeGripEnabled(false);
    delete layout(); // the status bar's own one has margins that nobody can set
    m_layout = new QHBoxLayout(this);
    setFixedHeight(24);
    m_layout->setContentsMargins(30, 1, 12, 0);
    m_layout->setSpacing(16);
    m_work->setObjectName(QStringLiteral("statusWork"));
    m_work->hide();
    m_state->setObjectName(QStringLiteral("statusState"));
    m_state->setMinimumWidth(1); // it is cut to the room that there is
    for (RoleLabel* label : { m_state, m_work, m_store, m_perSample, m_agents, m_spool })
        m_layout->addWidget(label);
    m_layout->addStretch();
    m_layout->addWidget(m_hints);
    m_layout->addWidget(m_frames);
    auto* row = new QHBoxLayout(m_hints);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(16);
    m_agents->setCursor(Qt::PointingHandCursor);
    m_agents->setToolTip(tr("Show the connections"));
    m_frames->setToolTip(tr("Frames a second that the window can answer; falls when something holds it up"));
}

void StatusLine::setListening(const QString& address, const QString& problem)
{
    m_address = address;
    m_problem = problem;
    show({});
}

void StatusLine::setHints(const std::vector<std::pair<QString, QString>>& keysAndMeanings)
{
    while (QLayoutItem* item = m_hints->layout()->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const auto& [key, meaning] : keysAndMeanings) {
        auto* chip = new KeyChip(key, meaning, m_hints);
        m_hints->layout()->addWidget(chip);
        chip->show(); // hidden ones do not count in the size hint that fit() asks for
    }
    fit();
}

void StatusLine::show(const Pulse& pulse)
{
    m_good = m_problem.isEmpty();
    m_state->setColor(m_good ? &Theme::text2 : &Theme::warnText);
    m_state->setProperty("telltaleData", !m_good);
    m_stateText = !m_good     ? m_problem
        : pulse.agents > 0    ? tr("Recording")
        : m_address.isEmpty() ? tr("Not recording")
                              : tr("Listening on %1").arg(m_address);
    m_store->setText(pulse.fileBytes > 0 ? tr("store %1").arg(views::formatBytes(pulse.fileBytes)) : tr("store empty"));
    const bool perSample = pulse.storedSamples > 0 && pulse.fileBytes > 0;
    m_perSample->setVisible(perSample);
    if (perSample) {
        const double bytes = static_cast<double>(pulse.fileBytes) / static_cast<double>(pulse.storedSamples);
        m_perSample->setText(tr("%1 B per sample").arg(bytes, 0, 'f', 1));
    }
    m_agents->setText(pulse.agents > 0 && !m_address.isEmpty()
            ? tr("%n agent(s) on %1", nullptr, pulse.agents).arg(m_address)
            : tr("%n agent(s)", nullptr, pulse.agents));
    m_spool->setVisible(pulse.agents > 0);
    m_spool->setText(
        tr("spool %1").arg(pulse.spoolBytes > 0 ? views::formatBytes(pulse.spoolBytes) : QStringLiteral("0")));
    m_frames->setText(QStringLiteral("%1 fps").arg(pulse.framesPerSecond));
    fit();
    update();
}

void StatusLine::setWork(const QString& sentence)
{
    m_work->setVisible(!sentence.isEmpty());
    m_work->setText(sentence);
    fit();
}

void StatusLine::fit()
{
    int room = width() - 60;
    for (const RoleLabel* label : { m_work, m_store, m_perSample, m_agents, m_spool, m_frames })
        room -= label->isVisibleTo(this) ? label->sizeHint().width() + 16 : 0;
    const QFontMetrics metrics = m_state->fontMetrics();
    m_state->setText(metrics.elidedText(m_stateText, Qt::ElideRight, std::max(room, 0)));
    m_state->setToolTip(m_state->text() == m_stateText ? QString() : items::toolTipText(m_stateText));
    m_hints->setVisible(room - metrics.horizontalAdvance(m_stateText) - 16 >= m_hints->sizeHint().width());
}

void StatusLine::resizeEvent(QResizeEvent* event)
{
    QStatusBar::resizeEvent(event);
    fit();
}

void StatusLine::mouseReleaseEvent(QMouseEvent* event)
{
    if (m_agents->geometry().contains(event->pos()))
        Q_EMIT connectionsClicked();
}

void StatusLine::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), theme.window);
    painter.fillRect(0, 0, width(), 1, theme.border);
    const QPointF c(18, height() / 2.0);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_good ? theme.ok : theme.warnMark, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    if (m_good) {
        const QPointF tick[] = { c + QPointF(-3.5, 0.5), c + QPointF(-1, 3), c + QPointF(4, -2.5) };
        painter.drawPolyline(tick, 3);
    } else {
        const QPointF triangle[] = { c + QPointF(0, -4), c + QPointF(4.5, 4), c + QPointF(-4.5, 4) };
        painter.drawPolygon(triangle, 3);
    }
}

}
