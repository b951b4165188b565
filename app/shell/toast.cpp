// SPDX-License-Identifier: GPL-3.0-or-later
#include "toast.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

namespace {

constexpr int kWidth = 320;
constexpr int kBeside = 280; ///< px of a sentence that has a button beside it, in two lines
constexpr int kLifeMs = 6000;

}

Toast::Toast(Toaster::Severity severity, const QString& sentence, const QString& action, std::function<void()> run,
    QWidget* parent)
    : QWidget(parent)
    , m_severity(severity)
    , m_sentence(sentence)
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(34, 10, 8, 10);
    layout->setSpacing(8);
    auto* words = (new RoleLabel(sentence, &Theme::text, views::wordsFont(12), this))->asData();
    words->setWordWrap(true);
    auto* column = new QVBoxLayout;
    column->setSpacing(8);
    column->addWidget(words);
    layout->addLayout(column, 1);
    if (!action.isEmpty()) {
        auto* button = new QPushButton(action, this);
        connect(button, &QPushButton::clicked, this, [this, run = std::move(run)] {
            run();
            close();
        });
        // Beside it a long sentence would become a narrow pillar.
        if (words->fontMetrics().horizontalAdvance(sentence) > kBeside)
            column->addWidget(button, 0, Qt::AlignLeft);
        else
            layout->addWidget(button, 0, Qt::AlignTop);
    }
    QToolButton* dismiss = views::makeToolButton(QStringLiteral("x"), tr("Dismiss"), this);
    dismiss->setFixedSize(20, 20);
    layout->addWidget(dismiss, 0, Qt::AlignTop);
    connect(dismiss, &QToolButton::clicked, this, &Toast::close);
    setFixedWidth(kWidth);
    setAccessibleName(sentence);
    setFixedHeight(std::max(44, layout->totalHeightForWidth(kWidth)));
    if (severity != Toaster::Severity::Critical)
        QTimer::singleShot(kLifeMs, this, &Toast::close);
}

void Toast::close()
{
    hide();
    Q_EMIT closed();
    deleteLater();
}

void Toast::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.controlBorder, 1));
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    const QPointF c(18, 20);
    painter.setBrush(Qt::NoBrush);
    switch (m_severity) {
    case Toaster::Severity::Good: {
        painter.setPen(QPen(theme.ok, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        const QPointF tick[] = { c + QPointF(-3.5, 0.5), c + QPointF(-1, 3), c + QPointF(4, -2.5) };
        painter.drawPolyline(tick, 3);
        break;
    }
    case Toaster::Severity::Notice:
        painter.setPen(QPen(theme.notice, 1.5));
        painter.drawEllipse(c, 4.5, 4.5);
        break;
    case Toaster::Severity::Warning: {
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.warnMark);
        const QPointF triangle[] = { c + QPointF(0, -5), c + QPointF(5.5, 4.5), c + QPointF(-5.5, 4.5) };
        painter.drawPolygon(triangle, 3);
        break;
    }
    case Toaster::Severity::Critical: {
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.criticalMark);
        const QPointF diamond[]
            = { c + QPointF(0, -5.5), c + QPointF(5.5, 0), c + QPointF(0, 5.5), c + QPointF(-5.5, 0) };
        painter.drawPolygon(diamond, 4);
        break;
    }
    }
}

}
