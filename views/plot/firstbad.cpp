// SPDX-License-Identifier: GPL-3.0-or-later
#include "firstbad.h"

#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/shownname.h>

namespace telltale::views {

namespace {

constexpr int kAgainMs = 3000;
constexpr int kMark = 14;
constexpr int kLeast = 120;

}

FirstBad::FirstBad(const ViewContext& context, QWidget* parent)
    : QAbstractButton(parent)
    , m_state(context.state)
    , m_finder(context.state, context.queries, this)
{
    setObjectName(QStringLiteral("firstNonFinite"));
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    setProperty("telltaleData", true);
    setFont(wordsFont(12));
    hide();
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &FirstBad::ask);
    connect(this, &QAbstractButton::clicked, this, [this] {
        if (m_onset)
            m_finder.goTo(*m_onset);
    });
    connect(m_state, &ViewState::runChanged, this, &FirstBad::forget);
    connect(m_state->incidents(), &items::IncidentsModel::changed, this, &FirstBad::showFound);
    for (const auto signal : { &ViewState::catalogChanged, &ViewState::dataArrived }) {
        connect(m_state, signal, this, [this] {
            if (!m_timer.isActive())
                m_timer.start(m_isAnswered ? kAgainMs : 0);
        });
    }
}

void FirstBad::setAsking(bool on)
{
    m_isAsking = on;
    if (on)
        m_timer.start(0);
}

void FirstBad::forget()
{
    m_isAnswered = false;
    take(std::nullopt);
    m_timer.start(0);
}

void FirstBad::ask()
{
    items::assertGuiThread();
    const StepRange full = m_state->ownRange();
    if (!m_isAsking || m_onset || full.isEmpty())
        return;
    // One step before the run: it may be broken from its first.
    m_finder.find({ Step { full.first.value - 1 }, full.last }, true, [this](const std::optional<FoundOnset>& onset) {
        m_isAnswered = true;
        take(onset);
    });
}

void FirstBad::take(const std::optional<FoundOnset>& onset)
{
    m_onset = onset;
    showFound();
}

void FirstBad::showFound()
{
    setVisible(m_onset.has_value());
    if (!m_onset)
        return;
    const FoundOnset onset = m_finder.known(*m_onset);
    setText(tr("First non-finite: step %1, rank %2, %3")
                .arg(formatStep(onset.step.value))
                .arg(onset.rank.value)
                .arg(items::shownTensor(onset.key.name, onset.key.slot, u':')));
    setAccessibleName(text());
    setToolTip(text() + QStringLiteral("\n") + kindText(onset.kind));
    updateGeometry();
    update();
}

QSize FirstBad::sizeHint() const
{
    return { kMark + fontMetrics().horizontalAdvance(text()) + 8, 24 };
}

QSize FirstBad::minimumSizeHint() const
{
    return { kLeast, 24 };
}

void FirstBad::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.criticalMark);
    const QPointF c(6, height() / 2.0);
    const QPointF diamond[] = { c + QPointF(0, -4.5), c + QPointF(4.5, 0), c + QPointF(0, 4.5), c + QPointF(-4.5, 0) };
    painter.drawPolygon(diamond, 4);
    QFont words = font();
    words.setUnderline(underMouse() || hasFocus());
    painter.setFont(words);
    painter.setPen(theme.criticalText);
    const QRect room = rect().adjusted(kMark, 0, -2, 0);
    painter.drawText(room, static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter),
        painter.fontMetrics().elidedText(text(), Qt::ElideRight, room.width()));
    if (hasFocus()) {
        painter.setPen(QPen(theme.accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

}
