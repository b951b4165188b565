// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidentlines.h"

#include <algorithm>

#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <telltale/common/scrolled.h>
#include <telltale/common/theme.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/rolelabel.h>

#include "glyphline.h"
#include "incidentsentence.h"

namespace telltale::views {

namespace {

constexpr int kGap = 5;

}

IncidentLines::IncidentLines(QWidget* parent)
    : QWidget(parent)
{
    auto* page = new QWidget;
    auto* lines = new QVBoxLayout(page);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setSpacing(kGap);
    const auto add = [&](RoleLabel::Color color, int px) {
        auto* label = new RoleLabel(color, wordsFont(px), page);
        label->setWordWrap(true);
        label->asData();
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        label->setFocusPolicy(Qt::NoFocus);
        lines->addWidget(label);
        return label;
    };
    m_sentence = add(&Theme::text, 14);
    m_sentence->setTextFormat(Qt::RichText);
    m_sentence->setObjectName(QStringLiteral("incidentSentence"));
    for (int i = 0; i < IncidentText::kMostEvidence; ++i) {
        auto* line = new GlyphLine(wordsFont(12), page);
        line->label()->setWordWrap(true);
        line->label()->asData();
        line->label()->setColor(&Theme::text2);
        m_evidence.push_back(line);
        lines->addWidget(line);
    }
    m_ties = add(&Theme::text2, 12);
    m_notes = add(&Theme::text2, 12);
    lines->addStretch();
    m_area = scrolled(page);
    page->setAutoFillBackground(false);
    m_area->viewport()->setAutoFillBackground(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_area, 1);
    layout->addStretch();
}

void IncidentLines::set(const IncidentText& text, const QString& plain)
{
    m_text = text;
    m_sentence->setText(text.sentence);
    m_sentence->setAccessibleName(plain);
    for (std::size_t i = 0; i < m_evidence.size(); ++i) {
        m_evidence[i]->setVisible(i < text.evidence.size());
        if (i < text.evidence.size())
            m_evidence[i]->set(text.evidence[i].first, text.evidence[i].second);
    }
    m_ties->setText(text.ties);
    m_ties->setVisible(!text.ties.isEmpty());
    m_notes->setText(text.notes);
    m_notes->setVisible(!text.notes.isEmpty());
}

int IncidentLines::fit(int width, int height)
{
    const Fit fit = fitEvidence(width, height);
    if (fit.isCut)
        fitEvidence(width - m_area->verticalScrollBar()->sizeHint().width(), height);
    fitPage();
    return fit.whole;
}

/// Whole as far as there is room for it beside a line of each of the others, else that line: half a line at the edge of
/// the page is neither.
IncidentLines::Fit IncidentLines::fitEvidence(int width, int height)
{
    const int sentence = m_sentence->heightForWidth(width);
    const int room = height - sentence;
    const auto count = static_cast<int>(m_text.evidence.size());
    int whole = 0;
    for (std::size_t i = 0; i < m_text.evidence.size(); ++i) {
        RoleLabel* label = m_evidence[i]->label();
        m_evidence[i]->show();
        label->setWordWrap(true);
        label->setText(m_text.evidence[i].second);
        label->setToolTip({});
        whole += m_evidence[i]->heightForWidth(width) + kGap;
    }
    int others = 0;
    for (const RoleLabel* label : { m_ties, m_notes })
        others += label->isHidden() ? 0 : label->heightForWidth(width) + kGap;
    if (whole <= room)
        return { sentence + whole + others, whole + others > room };
    const QFontMetrics metrics = m_evidence.front()->label()->fontMetrics();
    const int fit = std::max(room, 0) / (metrics.height() + kGap);
    int spare = room - count * (metrics.height() + kGap);
    for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        RoleLabel* label = m_evidence[at]->label();
        if (const int more = m_evidence[at]->heightForWidth(width) - metrics.height(); more <= spare) {
            spare -= more;
            continue; // as it is, in several lines
        }
        const QString more = i == fit - 1 && fit < count ? IncidentText::more(count - fit) : QString();
        const int left = width - GlyphLine::kIndent - metrics.horizontalAdvance(more);
        label->setWordWrap(false);
        label->setText(incidentsentence::elided(m_text.evidence[at].second, metrics, left) + more);
        QStringList tip { m_text.evidence[at].second };
        for (std::size_t rest = at + 1; !more.isEmpty() && rest < m_text.evidence.size(); ++rest)
            tip.append(m_text.evidence[rest].second);
        label->setToolTip(items::toolTipText(tip.join(u'\n')));
        m_evidence[at]->setVisible(i < fit || fit == 0); // without a line to count on they are scrolled to
    }
    return { sentence + whole + others, fit == 0 || others > 0 };
}

/// The edge of the page goes through no line: what is below it is scrolled to.
void IncidentLines::fitPage()
{
    const QLayout* lines = m_area->widget()->layout();
    const int room = height();
    int whole = 0; // all of it
    int shown = 0; // up to the last line that has room
    const auto measure = [&](int width) {
        whole = shown = 0;
        for (int i = 0; i < lines->count(); ++i) {
            QWidget* part = lines->itemAt(i)->widget();
            if (!part || part->isHidden())
                continue;
            const auto* line = qobject_cast<GlyphLine*>(part);
            const QFontMetrics metrics((line ? line->label() : part)->font());
            const int height = part->hasHeightForWidth() ? part->heightForWidth(width) : part->sizeHint().height();
            const int count = std::max(1, height / metrics.height());
            for (int n = 1; n <= count; ++n)
                shown = whole + height * n / count <= room ? whole + height * n / count : shown;
            whole += height + kGap;
        }
        whole -= kGap;
    };
    measure(width());
    if (whole > room)
        measure(width() - m_area->verticalScrollBar()->sizeHint().width());
    m_area->setMaximumHeight(whole > room && shown > 0 ? shown : QWIDGETSIZE_MAX);
}

void IncidentLines::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitPage();
}

}
