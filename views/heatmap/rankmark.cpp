// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankmark.h"

#include <QCoreApplication>

#include <telltale/common/glyphs.h>

namespace telltale::views {

using Grade = analysis::RankOddness::Grade;

void paintRankMark(QPainter& painter, QPointF center, Grade grade, const Theme& theme)
{
    if (grade != Grade::Like)
        glyphs::paintSeverity(
            painter, center, 8, grade == Grade::Odd ? glyphs::Severity::Warning : glyphs::Severity::Notice, theme);
}

QString rankMarkText(Grade grade)
{
    switch (grade) {
    case Grade::Odd:
        return QCoreApplication::translate("RankMark", "unlike its peers");
    case Grade::AtTimes:
        return QCoreApplication::translate("RankMark", "unlike its peers at times");
    case Grade::Like:
        break;
    }
    return {};
}

}
