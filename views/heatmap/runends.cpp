// SPDX-License-Identifier: GPL-3.0-or-later
#include "runends.h"

#include <QCoreApplication>
#include <QPainter>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>

#include "heatimage.h"

namespace telltale::views {

QString noStepBefore(const QString& run, Step first)
{
    return QCoreApplication::translate("DifferenceMap", "%1 has no step before %2").arg(run, formatStep(first.value));
}

QString noStepAfter(const QString& run, Step last)
{
    return QCoreApplication::translate("DifferenceMap", "%1 has no step after %2").arg(run, formatStep(last.value));
}

QString withWholeNames(QString sentence, const QStringList& names)
{
    constexpr QChar kWordJoiner(0x2060);
    for (const QString& name : names) {
        QString whole;
        for (const QChar letter : name) {
            if (!whole.isEmpty() && !letter.isLowSurrogate())
                whole += kWordJoiner;
            whole += letter;
        }
        if (!name.isEmpty())
            sentence.replace(name, whole);
    }
    return sentence;
}

std::pair<int, int> runColumns(const HeatPicture& picture, const ViewState& state)
{
    const int columns = picture.columns();
    const StepRange has = picture.sides ? picture.sides->both : state.ownRange();
    if (!picture.sides && (state.comparedRuns().empty() || has.isEmpty()))
        return { 0, columns };
    int first = 0;
    while (first < columns && picture.stepsOf(first).last < has.first)
        ++first;
    int end = columns;
    while (end > first && has.last < picture.stepsOf(end - 1).first)
        --end;
    return { first, end };
}

std::vector<RunEnd> runEnds(const HeatPicture& picture, const QRect& plot, const ViewState& state)
{
    const HeatSides* sides = picture.sides.get();
    const auto [first, end] = runColumns(picture, state);
    const int left = HeatImage::columnLeft(first, picture.columns(), plot.width());
    const int right = HeatImage::columnLeft(end, picture.columns(), plot.width());
    std::vector<RunEnd> ends;
    if (left > 0)
        ends.push_back({ { plot.left(), plot.top(), left, plot.height() },
            sides ? sides->before : noStepBefore(state.runName(0), state.ownRange().first) });
    if (right < plot.width())
        ends.push_back({ { plot.left() + right, plot.top(), plot.width() - right, plot.height() },
            sides ? sides->after : noStepAfter(state.runName(0), state.ownRange().last) });
    return ends;
}

void paintRunEnds(QPainter& painter, const std::vector<RunEnd>& ends)
{
    for (const RunEnd& end : ends)
        painter.fillRect(end.area, Theme::current().base);
}

void paintRunEndWords(
    QPainter& painter, const std::vector<RunEnd>& ends, const HeatPicture& picture, const ViewState& state)
{
    const Theme& theme = Theme::current();
    painter.setFont(wordsFont(11));
    painter.setPen(theme.text3);
    const QStringList names
        = picture.sides ? QStringList { picture.sides->nameA, picture.sides->nameB } : QStringList { state.runName(0) };
    for (const RunEnd& end : ends) {
        const QRect room = end.area.adjusted(8, 0, -8, 0);
        if (room.width() <= 0) // nothing lies in it, but Qt would say so
            continue;
        const QRect upright(-room.height() / 2, -room.width() / 2, room.height(), room.width());
        const QString whole = withWholeNames(end.why, names);
        for (const auto& [why, isUpright] :
            { std::pair(whole, false), { whole, true }, { end.why, false }, { end.why, true } }) {
            const QRect& place = isUpright ? upright : room;
            const QRect words = painter.boundingRect(place, Qt::AlignCenter | Qt::TextWordWrap, why);
            if (why.isEmpty() || !place.contains(words))
                continue;
            painter.save();
            if (isUpright) {
                painter.translate(QRectF(room).center());
                painter.rotate(-90);
            }
            painter.fillRect(words.adjusted(-4, -2, 4, 2), theme.base);
            painter.drawText(place, Qt::AlignCenter | Qt::TextWordWrap, why);
            painter.restore();
            break;
        }
    }
}

}
