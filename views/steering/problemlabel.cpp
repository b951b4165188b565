// SPDX-License-Identifier: GPL-3.0-or-later
#include "problemlabel.h"

#include <QPainter>

#include <telltale/common/glyphs.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>

namespace telltale::views {

constexpr int kMarkRoom = 16;

ProblemLabel::ProblemLabel(int px, QWidget* parent)
    : RoleLabel(&Theme::text2, wordsFont(px), parent)
{
    setWordWrap(true);
}

void ProblemLabel::setProblem(const QString& sentence, bool isError)
{
    items::assertGuiThread();
    m_isError = isError;
    setIndent(kMarkRoom);
    setColor(isError ? &Theme::criticalText : &Theme::warnText);
    setText(sentence);
}

void ProblemLabel::setNote(const QString& sentence)
{
    setIndent(0);
    setColor(&Theme::text2);
    setText(sentence);
}

void ProblemLabel::paintEvent(QPaintEvent* event)
{
    RoleLabel::paintEvent(event);
    if (indent() != kMarkRoom || text().isEmpty())
        return;
    QPainter painter(this);
    // Beside the first line, wherever the text as a whole stands.
    const int width = contentsRect().width() - kMarkRoom;
    const int lines = fontMetrics().boundingRect(0, 0, width, 1 << 16, Qt::TextWordWrap, text()).height();
    const double top = contentsRect().top() + (contentsRect().height() - lines) / 2.0;
    glyphs::paintSeverity(painter, { contentsRect().left() + 5.0, top + fontMetrics().height() / 2.0 }, 10,
        m_isError ? glyphs::Severity::Critical : glyphs::Severity::Warning, Theme::current());
}

}
