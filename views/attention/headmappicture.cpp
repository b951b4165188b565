// SPDX-License-Identifier: GPL-3.0-or-later
#include "headmappicture.h"

#include <algorithm>
#include <cmath>
#include <map>

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

using Documents = std::vector<store::DocumentInfo>;
using SharedMaps = std::shared_ptr<const analysis::HeadMaps>;

/// Reads each document once. Those that are damaged do not hide the others. Thread: query.
class MapsReader {
public:
    MapsReader(store::RunReader& reader, QString& trouble)
        : m_reader(reader)
        , m_trouble(trouble)
    {
    }

    /// None: it is damaged, and `trouble` says why.
    SharedMaps read(const store::DocumentInfo& info)
    {
        const auto [place, isNew] = m_read.try_emplace(info.id);
        if (!isNew)
            return place->second;
        const auto document = m_reader.document(info.id);
        auto maps = document ? analysis::parseHeadMaps(*document) : tl::unexpected(document.error());
        if (maps)
            place->second = std::make_shared<const analysis::HeadMaps>(std::move(*maps));
        else
            m_trouble = items::saidwords::of(maps.error());
        return place->second;
    }

private:
    store::RunReader& m_reader;
    QString& m_trouble;
    std::map<decltype(store::DocumentInfo::id), SharedMaps> m_read;
};

/// `most` of them, evenly, with the first, the last and the wanted one, which is among them.
Documents spreadOver(Documents all, std::size_t most, Step wanted)
{
    if (all.size() <= most)
        return all;
    const auto isWanted = [wanted](const store::DocumentInfo& one) { return one.step == wanted; };
    Documents some;
    for (std::size_t i = 0; i < most; ++i)
        some.push_back(all[most < 2 ? 0 : i * (all.size() - 1) / (most - 1)]);
    if (std::none_of(some.begin(), some.end(), isWanted)) {
        const auto distance
            = [wanted](const store::DocumentInfo& one) { return std::abs(one.step.value - wanted.value); };
        *std::min_element(some.begin(), some.end(), [&](const auto& left, const auto& right) {
            return distance(left) < distance(right);
        }) = *std::find_if(all.begin(), all.end(), isWanted);
    }
    return some;
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

Expected<HeadMapPicture> readHeadMaps(store::RunReader& reader, Rank rank, Step step, StepRange range,
    const QString& filter, const std::vector<ModuleKey>& selection,
    const std::function<QString(const ModuleKey&)>& titleOf)
{
    HeadMapPicture picture;
    picture.atStep = step;
    picture.rank = rank;
    const auto all = reader.documents(analysis::kHeadMapKind);
    if (!all)
        return tl::unexpected(all.error());
    const NamePattern pattern(filter.toStdString());
    MapsReader documents(reader, picture.trouble);
    struct Found {
        HeadMapTile tile;
        store::DocumentInfo from;
    };
    std::vector<Found> found;
    for (const store::DocumentInfo& info : analysis::headMapsAt(*all, rank, step)) {
        picture.hasAny = true;
        const QString name = bareName(info.name);
        if (!pattern.matches(name.toStdString()))
            continue;
        const SharedMaps maps = documents.read(info);
        for (std::size_t place = 0; maps && place < maps->heads.size(); ++place) {
            const ModuleKey key { name, Slot::ofHead(maps->heads[place]) };
            found.push_back({ { key, titleOf(key), info.step, true, maps, place }, info });
        }
    }
    const auto isChosen = [&selection](const Found& one) {
        return std::find(selection.begin(), selection.end(), one.tile.key) != selection.end();
    };
    picture.areChosen = std::any_of(found.begin(), found.end(), isChosen);
    if (picture.areChosen)
        std::erase_if(found, [&](const Found& one) { return !isChosen(one); });
    picture.missing = static_cast<int>(std::count_if(selection.begin(), selection.end(), [&](const ModuleKey& key) {
        return key.slot.head >= 0
            && std::none_of(found.begin(), found.end(), [&](const Found& one) { return one.tile.key == key; });
    }));
    if (found.size() > HeadMapPicture::kMost) {
        picture.omitted = found.size() - HeadMapPicture::kMost;
        found.resize(HeadMapPicture::kMost);
    }
    if (!picture.areChosen) {
        for (Found& one : found)
            picture.tiles.push_back(std::move(one.tile));
        return picture;
    }
    const std::size_t most = std::min(HeadMapPicture::kMostSteps, HeadMapPicture::kMostTiles / found.size());
    picture.lines = 0;
    for (const auto& [tile, from] : found) {
        Documents seen = analysis::headMapsLike(*all, from, range);
        if (tile.step < range.first || range.last < tile.step) // nothing nearer was recorded
            seen.insert(tile.step < range.first ? seen.begin() : seen.end(), from);
        if (seen.size() > most)
            picture.thinned = std::max(picture.thinned, seen.size());
        int column = 0;
        for (const store::DocumentInfo& info : spreadOver(std::move(seen), most, tile.step)) {
            const SharedMaps maps = documents.read(info);
            if (const auto place = maps ? maps->placeOf(tile.key.slot.head) : std::nullopt)
                picture.tiles.push_back(
                    { tile.key, tile.title, info.step, info.step == tile.step, maps, *place, picture.lines, column++ });
        }
        picture.lines += column > 0 ? 1 : 0;
        picture.stepsOfHead = std::max(picture.stepsOfHead, column);
    }
    const auto& tiles = picture.tiles;
    picture.sharesSteps = std::all_of(tiles.begin(), tiles.end(), [&tiles](const HeadMapTile& one) {
        const HeadMapTile& above = tiles[static_cast<std::size_t>(one.inLine)];
        return above.line == 0 && above.step == one.step;
    });
    return picture;
}

}
