// SPDX-License-Identifier: GPL-3.0-or-later
#include "incidentpicture.h"

#include <cmath>

#include <QAbstractTextDocumentLayout>
#include <QPainter>
#include <QTextBlock>
#include <QTextLayout>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>

#include "glyphline.h"
#include "incidentcard.h"

namespace telltale::views {

namespace {

constexpr int kTop = 8;
constexpr int kSide = 12;
constexpr int kBottom = 10;
constexpr int kHeadGap = 8; ///< below its head
constexpr int kLineGap = 5;

QString colored(const QColor& color, const QString& html)
{
    return QStringLiteral("<span style=\"color:%1\">%2</span>").arg(color.name(), html);
}

}

IncidentPicture::IncidentPicture(
    IncidentText text, glyphs::Severity severity, const QString& hint, const QString& when, int width, int most)
    : m_severity(severity)
    , m_hint(hint)
    , m_when(when)
{
    items::assertGuiThread();
    const std::vector<std::pair<glyphs::Severity, QString>> evidence = text.evidence;
    std::size_t said = evidence.size();
    for (layOut(text, width); m_height > most; layOut(text, width)) {
        if (!text.notes.isEmpty()) {
            text.notes.clear();
        } else if (!text.ties.isEmpty()) {
            text.ties.clear();
        } else if (said > 0) {
            text.evidence.assign(evidence.begin(), evidence.begin() + static_cast<std::ptrdiff_t>(--said));
            if (said > 0)
                text.evidence.back().second += IncidentText::more(static_cast<int>(evidence.size() - said));
        } else {
            m_lines.clear();
            m_height = 0;
            return;
        }
    }
}

void IncidentPicture::layOut(const IncidentText& text, int width)
{
    const Theme& theme = Theme::current();
    m_lines.clear();
    int top = kTop;
    const auto add = [&](const QString& html, const QFont& font, int gap, int indent = 0,
                         std::optional<glyphs::Severity> sign = {}) {
        auto words = std::make_unique<QTextDocument>();
        words->setDocumentMargin(0);
        words->setDefaultFont(font);
        words->setHtml(html);
        words->setTextWidth(width - 2 * kSide - indent);
        const auto height = static_cast<int>(std::ceil(words->size().height()));
        m_lines.push_back({ std::move(words), top, indent, sign });
        top += height + gap;
    };
    constexpr int kIndent = GlyphLine::kIndent;
    const QFont small = wordsFont(12);
    add(QStringLiteral("<b>%1</b>&nbsp; ").arg(IncidentCard::tr("Root cause").toHtmlEscaped())
            + colored(theme.text3, m_hint.toHtmlEscaped()),
        wordsFont(13), kHeadGap, kIndent, m_severity);
    if (!m_when.isEmpty())
        add(colored(theme.text2, m_when.toHtmlEscaped()), small, kHeadGap, kIndent);
    add(text.sentence, wordsFont(14), kLineGap);
    for (const auto& [severity, words] : text.evidence)
        add(colored(theme.text2, words.toHtmlEscaped()), small, kLineGap, kIndent, severity);
    for (const QString& words : { text.ties, text.notes }) {
        if (!words.isEmpty())
            add(colored(theme.text2, words.toHtmlEscaped().replace(u'\n', QStringLiteral("<br>"))), small, kLineGap);
    }
    m_height = top - kLineGap + kBottom;
}

void IncidentPicture::paint(QPainter& painter, QPoint at) const
{
    const Theme& theme = Theme::current();
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette.setColor(QPalette::Text, theme.text);
    for (const Line& line : m_lines) {
        const QPointF place = at + QPoint(kSide + line.indent, line.top);
        painter.save();
        painter.translate(place);
        line.words->documentLayout()->draw(&painter, context);
        painter.restore();
        if (line.sign) {
            const double first = line.words->firstBlock().layout()->lineAt(0).height();
            glyphs::paintSeverity(painter, place + QPointF(6 - line.indent, first / 2), 10, *line.sign, theme);
        }
    }
}

}
