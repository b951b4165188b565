// SPDX-License-Identifier: GPL-3.0-or-later
#include "scalarpanels.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <telltale/common/seriesstyle.h>

namespace telltale::views {

QString panelKey(const QString& name)
{
    const auto slash = name.lastIndexOf(QLatin1Char('/'));
    auto end = name.size();
    while (end > slash + 1 && name[end - 1].isDigit())
        --end;
    const auto isWord = [&](qsizetype from) {
        return std::none_of(name.begin() + from, name.begin() + end, [](QChar c) { return c.isDigit(); });
    };
    return slash > 0 && end < name.size() && isWord(slash + 1) ? name.left(end) : name;
}

QString partName(const QString& name)
{
    return name.mid(name.lastIndexOf(QLatin1Char('/')) + 1);
}

void putPanelsTogether(std::vector<Row>& rows)
{
    using Place = std::tuple<std::size_t, qulonglong, std::size_t>; // of the panel, in the panel, where it was
    std::map<QString, std::size_t> panels;
    std::vector<Place> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const QString& name = rows[i].key.name;
        const QString key = panelKey(name);
        places.emplace_back(panels.try_emplace(key, i).first->second, name.mid(key.size()).toULongLong(), i);
    }
    std::sort(places.begin(), places.end());
    std::vector<Row> sorted;
    sorted.reserve(rows.size());
    for (const Place& place : places)
        sorted.push_back(std::move(rows[std::get<2>(place)]));
    rows = std::move(sorted);
}

std::vector<ScalarPanel> panelsOf(const CurvePicture& picture)
{
    std::vector<ScalarPanel> panels;
    QString key;
    int firstRow = 0; ///< its slot in the color of the shown run
    for (std::size_t i = 0; i < picture.series.size(); ++i) {
        const CurveSeries& one = picture.series[i];
        const QString& name = one.row.key.name;
        if (panels.empty() || panelKey(name) != key) {
            key = panelKey(name);
            panels.emplace_back().title = one.row.label;
            panels.back().picture.range = picture.range;
            panels.back().first = i;
            firstRow = one.slot / SeriesStyle::kColors * SeriesStyle::kColors;
        }
        ScalarPanel& panel = panels.back();
        if (!panel.picture.isEmpty() && panel.picture.series.front().row.key.name != name) {
            panel.isShared = true;
            panel.title = name.left(name.lastIndexOf(QLatin1Char('/')));
        }
        panel.picture.series.push_back(one);
        if (one.hasRunColor)
            panel.picture.series.back().slot = one.slot - firstRow;
    }
    for (ScalarPanel& panel : panels) {
        std::vector<CurveSeries>& all = panel.picture.series;
        // Parts that no other run has keep colors of their own: there is nothing that they could be taken for.
        const bool isOwn = panel.isShared
            && std::none_of(all.begin(), all.end(), [](const CurveSeries& one) { return one.isOtherRun; });
        for (CurveSeries& one : all) {
            if (one.hasRunColor)
                one.slot = isOwn ? one.slot / SeriesStyle::kColors : one.slot % SeriesStyle::kDistinct;
        }
    }
    return panels;
}

}
