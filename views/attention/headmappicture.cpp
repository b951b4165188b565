// SPDX-License-Identifier: GPL-3.0-or-later
#include "headmappicture.h"

#include <algorithm>
#include <cmath>

#include <QStringList>

#include <telltale/core/namepattern.h>
#include <telltale/items/saidwords.h>

namespace telltale::views {

namespace {

constexpr double kDecades = 1000; ///< from the largest share down

/// Without what wrappers of a model put into it, as series are named: agents sent these documents with it before.
QString bareName(const std::string& name)
{
    QStringList parts = QString::fromStdString(name).split(u'.');
    parts.removeIf([](const QString& part) {
        return part == QLatin1String("_orig_mod") || part == QLatin1String("_fsdp_wrapped_module")
            || part == QLatin1String("_checkpoint_wrapped_module");
    });
    while (parts.size() > 1 && parts.front() == QLatin1String("module"))
        parts.removeFirst();
    return parts.join(u'.');
}

}

ValueScale HeadMapPicture::scale() const
{
    float most = 0;
    for (const HeadMapTile& tile : tiles) {
        for (int row = 0; row < tile.maps->rows; ++row) {
            for (int column = 0; column < tile.maps->columns; ++column) {
                if (const float cell = tile.cell(row, column); std::isfinite(cell))
                    most = std::max(most, cell);
            }
        }
    }
    const double high = most > 0 ? static_cast<double>(most) : 1;
    return { ValueScale::Mode::Log, high / kDecades, high };
}

Expected<HeadMapPicture> readHeadMaps(store::RunReader& reader, Rank rank, Step step, const QString& filter,
    const std::vector<ModuleKey>& selection, const std::function<QString(const ModuleKey&)>& titleOf)
{
    HeadMapPicture picture;
    picture.atStep = step;
    picture.rank = rank;
    const auto all = reader.documents(analysis::kHeadMapKind);
    if (!all)
        return tl::unexpected(all.error());
    const NamePattern pattern(filter.toStdString());
    std::vector<HeadMapTile> tiles;
    for (const store::DocumentInfo& info : analysis::headMapsAt(*all, rank, step)) {
        picture.hasAny = true;
        const QString name = bareName(info.name);
        if (!pattern.matches(name.toStdString()))
            continue;
        const auto document = reader.document(info.id);
        auto maps = document ? analysis::parseHeadMaps(*document) : tl::unexpected(document.error());
        if (!maps) { // one that is damaged does not hide the others
            picture.trouble = items::saidwords::of(maps.error());
            continue;
        }
        const auto shared = std::make_shared<const analysis::HeadMaps>(std::move(*maps));
        for (std::size_t place = 0; place < shared->heads.size(); ++place) {
            const ModuleKey key { name, Slot::ofHead(shared->heads[place]) };
            tiles.push_back({ key, titleOf(key), info.step, shared, place });
        }
    }
    const auto isChosen = [&selection](const HeadMapTile& tile) {
        return std::find(selection.begin(), selection.end(), tile.key) != selection.end();
    };
    picture.areChosen = std::any_of(tiles.begin(), tiles.end(), isChosen);
    if (picture.areChosen)
        std::erase_if(tiles, [&](const HeadMapTile& tile) { return !isChosen(tile); });
    if (tiles.size() > HeadMapPicture::kMost) {
        picture.omitted = tiles.size() - HeadMapPicture::kMost;
        tiles.resize(HeadMapPicture::kMost);
    }
    picture.tiles = std::move(tiles);
    return picture;
}

}
