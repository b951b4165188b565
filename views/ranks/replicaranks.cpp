// SPDX-License-Identifier: GPL-3.0-or-later
#include "replicaranks.h"

#include <algorithm>

#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/kindtext.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>

namespace telltale::views {

namespace {
constexpr int kValuesWidth = 146;
constexpr int kChecksumsWidth = 120; ///< px beside them
constexpr int kListTop = 8;
constexpr int kListLine = 16;
constexpr int kSignWidth = 12; ///< px of a sign, with what lies behind it
}

ReplicaRanks::ReplicaRanks(ViewState* state, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
{
    connect(state, &ViewState::rankChanged, this, qOverload<>(&QWidget::update));
}

void ReplicaRanks::setPicture(std::shared_ptr<const ReplicaPicture> picture)
{
    items::assertGuiThread();
    m_picture = std::move(picture);
    update();
}

int ReplicaRanks::widthIn(int room, int other) const
{
    if (!m_picture || m_picture->ranks.size() < 2 || m_picture->columns() == 0)
        return 0;
    const int whole = kValuesWidth + (m_picture->hasChecksums ? kChecksumsWidth : 0);
    return room - other >= whole ? whole : room - other >= kValuesWidth ? kValuesWidth : 0;
}

void ReplicaRanks::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().base);
    paintTo(painter, rect());
}

void ReplicaRanks::paintTo(QPainter& painter, const QRectF& whole) const
{
    if (!m_picture)
        return;
    const Theme& theme = Theme::current();
    const auto odd = unlikeMost(m_picture->checksums);
    const bool isWarning = m_picture->isReplicated();
    const auto paintSign = [&](QPointF topLeft) {
        glyphs::paintUnequal(
            painter, topLeft + QPointF(4, kListLine / 2.0), 8, isWarning ? theme.warnMark : theme.text3);
    };
    const QString step = tr("at step %1").arg(formatStep(m_picture->valuesStep.value));
    const QString meaning = odd.empty() ? tr("the bits differ") : tr("other bits than most");
    painter.setFont(wordsFont(11));
    QRectF area = whole.adjusted(0, kListTop, -12, -kListTop);
    QRectF line(area.left(), area.top(), area.width(), kListLine);
    painter.setPen(theme.text3);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, step);
    if (m_picture->sameness() == analysis::Sameness::Different) {
        // What explains the sign stands behind the step, or else below the list.
        const auto widthOf
            = [&painter](const QString& words) { return painter.fontMetrics().horizontalAdvance(words); };
        const double left = line.right() - widthOf(meaning) - kSignWidth - 1;
        if (left >= line.left() + widthOf(step) + kSignWidth) {
            line.setLeft(left);
        } else {
            line.moveBottom(area.bottom());
            area.setBottom(line.top() - 4);
        }
        paintSign(line.topLeft());
        painter.setPen(theme.text2);
        painter.drawText(line.adjusted(kSignWidth, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, meaning);
    }
    double y = area.top() + 20;
    for (std::size_t i = 0; i < m_picture->ranks.size(); ++i) {
        if (y + 34 > area.bottom() && i + 1 < m_picture->ranks.size()) {
            painter.setPen(theme.text3);
            painter.setFont(wordsFont(11));
            painter.drawText(QRectF(area.left(), y, area.width(), kListLine), Qt::AlignLeft | Qt::AlignVCenter,
                tr("and %n more ranks", nullptr, static_cast<int>(m_picture->ranks.size() - i)));
            break;
        }
        const bool isOdd = std::find(odd.begin(), odd.end(), i) != odd.end();
        const series::CellValue& value = m_picture->values[i];
        painter.setFont(numberFont(12, m_picture->ranks[i] == m_state->rank() ? 600 : 400));
        painter.setPen(theme.text2);
        painter.drawText(QRectF(area.left() + 12, y, 60, kListLine), Qt::AlignLeft | Qt::AlignVCenter,
            tr("rank %1").arg(m_picture->ranks[i].value));
        painter.setPen(series::isNonFinite(value.state) ? theme.criticalText : theme.text);
        painter.drawText(QRectF(area.left() + 60, y, 70, kListLine), Qt::AlignRight | Qt::AlignVCenter,
            value.state == series::CellState::Value ? statValueText(m_picture->stat, value.value)
                                                    : glyphs::word(value.state));
        const series::CellValue& bits = m_picture->checksums[i];
        if (whole.width() > kValuesWidth && bits.state == series::CellState::Value) {
            painter.setFont(codeFont(11));
            painter.setPen(isOdd && isWarning ? theme.warnText : theme.text3);
            painter.drawText(QRectF(area.left() + 138, y, area.width() - 138, kListLine),
                Qt::AlignLeft | Qt::AlignVCenter, QString::fromStdString(identityText(bits.identity)));
        }
        if (isOdd)
            paintSign({ area.left(), y });
        y += 18;
    }
}

}
