// SPDX-License-Identifier: GPL-3.0-or-later
#include "damagestrip.h"

#include <QHBoxLayout>
#include <QPainter>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/items/runsmodel.h>
#include <telltale/items/saidwords.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/runs/stateglyph.h>

namespace telltale::shell {

using views::Theme;
using views::ViewState;

DamageStrip::DamageStrip(const views::ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_label((new views::RoleLabel(&Theme::warnText, views::wordsFont(12), this))->asData())
{
    setObjectName(QStringLiteral("damageStrip"));
    m_label->setWordWrap(true);
    m_label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(36, 6, 12, 6);
    layout->addWidget(m_label);
    hide();
    for (const auto signal : { &ViewState::runChanged, &ViewState::catalogChanged })
        connect(context.state, signal, this, &DamageStrip::look);
    if (context.runs) {
        connect(context.runs, &QAbstractItemModel::modelReset, this, &DamageStrip::look);
        connect(context.runs, &QAbstractItemModel::dataChanged, this, &DamageStrip::look);
        connect(context.runs, &QAbstractItemModel::rowsInserted, this, &DamageStrip::look);
    }
}

/// What reading has met, else what the whole reading of the file has found, which the list of runs holds.
void DamageStrip::look()
{
    items::assertGuiThread();
    const ViewState& state = *m_context.state;
    QString lost;
    if (state.catalog() && !state.catalog()->damage.empty())
        lost = items::saidwords::inLanguage(QString::fromStdString(state.catalog()->damage.front()));
    else if (const store::RunSummary* summary = m_context.runs && state.run()
                 ? m_context.runs->runAt(m_context.runs->indexOf(QString::fromStdString(state.run()->id)))
                 : nullptr;
             summary && summary->state == store::RunState::Damaged)
        lost = items::saidwords::inLanguage(QString::fromStdString(summary->note));
    if (!state.run())
        lost.clear();
    if (lost == m_sentence)
        return;
    m_sentence = lost;
    m_label->setText(tr("This run is damaged, and shows only what could be read of it: %1").arg(lost));
    m_label->setToolTip(tr("'telltale inspect --verify' lists everything that is lost."));
    setVisible(!lost.isEmpty());
}

void DamageStrip::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), theme.window);
    painter.fillRect(0, height() - 1, width(), 1, theme.border);
    views::paintRunState(&painter, QRectF(12, (height() - 16) / 2.0, 16, 16), store::RunState::Damaged);
}

}
