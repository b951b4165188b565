// SPDX-License-Identifier: GPL-3.0-or-later
#include "applybox.h"

#include <limits>
#include <utility>

#include <QGridLayout>
#include <QLineEdit>
#include <QPushButton>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/rolelabel.h>

#include "numberedit.h"
#include "problemlabel.h"

namespace telltale::views {

ApplyBox::ApplyBox(QWidget* parent)
    : QWidget(parent)
    , m_ranks(new QLineEdit(this))
    , m_step(new NumberEdit(0, std::numeric_limits<qint64>::max(), this))
    , m_stepHint(new RoleLabel(&Theme::text3, wordsFont(11), this))
    , m_apply(new QPushButton(this))
    , m_why(new ProblemLabel(11, this))
{
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(12, 8, 12, 12);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(8);
    m_ranks->setObjectName(QStringLiteral("configRanks"));
    m_ranks->setPlaceholderText(tr("all"));
    m_ranks->setFont(numberFont(12));
    m_step->setObjectName(QStringLiteral("configStep"));
    m_step->setPlaceholderText(tr("as soon as all can"));
    int row = 0;
    for (const auto& [name, edit] :
        { std::pair { tr("Ranks"), m_ranks }, { tr("At step"), static_cast<QLineEdit*>(m_step) } }) {
        auto* label = new RoleLabel(name, &Theme::text2, wordsFont(12), this);
        label->setBuddy(edit);
        edit->setAccessibleName(name);
        grid->addWidget(label, row, 0);
        grid->addWidget(edit, row++, 1);
        connect(edit, &QLineEdit::textEdited, this, &ApplyBox::edited);
    }
    grid->addWidget(m_stepHint, row++, 1);
    m_apply->setObjectName(QStringLiteral("configApply"));
    m_apply->setDefault(true);
    connect(m_apply, &QPushButton::clicked, this, &ApplyBox::applied);
    grid->addWidget(m_apply, row++, 1, Qt::AlignLeft);
    grid->addWidget(m_why, row, 1);
    grid->setColumnStretch(1, 1);
}

std::optional<std::vector<Rank>> ApplyBox::ranks() const
{
    std::vector<Rank> ranks;
    for (const QString& part : m_ranks->text().split(u',', Qt::SkipEmptyParts)) {
        bool isNumber = false;
        const int rank = part.trimmed().toInt(&isNumber);
        if (!isNumber)
            return {};
        ranks.emplace_back(rank);
    }
    return ranks;
}

std::optional<qint64> ApplyBox::step() const
{
    bool isNumber = true;
    const QString digits = NumberEdit::ungrouped(m_step->text());
    const qint64 step = digits.isEmpty() ? 0 : digits.toLongLong(&isNumber);
    return isNumber && step >= 0 ? std::optional(step) : std::nullopt;
}

void ApplyBox::setNewest(std::optional<qint64> newest)
{
    items::assertGuiThread();
    m_step->setRange(newest ? *newest + 1 : 0, std::numeric_limits<qint64>::max());
    const qint64 wanted = step().value_or(0);
    m_stepHint->setVisible(newest && wanted > 0);
    if (newest)
        m_stepHint->setText(wanted > *newest ? tr("newest step + %1").arg(formatStep(wanted - *newest))
                                             : tr("the newest step is %1").arg(formatStep(*newest)));
}

void ApplyBox::setRevision(std::optional<std::uint64_t> revision)
{
    m_apply->setText(revision ? tr("Apply rev %1").arg(*revision) : tr("Apply"));
    m_ranks->setEnabled(revision.has_value());
    m_step->setEnabled(revision.has_value());
}

void ApplyBox::setEnabledApply(bool on)
{
    m_apply->setEnabled(on);
}

}
