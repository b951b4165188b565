// SPDX-License-Identifier: GPL-3.0-or-later
#include "absentkind.h"

#include <algorithm>
#include <map>

#include <QCoreApplication>

#include <telltale/items/shownname.h>
#include <telltale/series/rowindex.h>
#include <telltale/store/rowsof.h>

#include "kindtext.h"

namespace telltale::views {

QString absentKindText(
    const store::Catalog& catalog, Kind kind, std::optional<Rank> rank, const std::vector<ModuleKey>& selection)
{
    const series::RowIndex& index = store::rowsOf(catalog);
    std::map<std::uint32_t, QString> selected; // by the places of their names
    for (const ModuleKey& key : selection) {
        const std::string name = key.name.toStdString();
        const series::RowIndex::Rows rows = index.named(name);
        if (std::ranges::any_of(
                rows, [&](const auto* row) { return row->kind == kind && (!rank || row->rank == *rank); }))
            return {};
        selected.emplace(index.placeOf(name), key.name);
    }
    for (const series::RowIndex::Row* row : index.select(kind, rank)) {
        std::uint32_t place = index.placeOfName(row->tensor);
        for (std::uint32_t above = index.above(place); above != place; above = index.above(place)) {
            place = above;
            if (const auto found = selected.find(place); found != selected.end())
                return QCoreApplication::translate("AbsentKind", "%1 itself has no %2: select %3.")
                    .arg(items::shownName(found->second), kindText(kind),
                        items::shownName(QString::fromStdString(index.key(*row).name)));
        }
    }
    return {};
}

}
