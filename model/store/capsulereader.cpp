// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulereader.h>

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include <telltale/store/capsulefile.h>
#include <telltale/store/catalogreader.h>
#include <telltale/store/readsnapshot.h>
#include <telltale/store/tailreplay.h>

namespace telltale::store {
namespace {

Error named(const std::string& path, Error error)
{
    if (error.what.find(path) == std::string::npos)
        error.what = "cannot open " + path + ": " + error.what;
    return error;
}

}

Expected<std::unique_ptr<RunReader>> openReader(const RunHandle& run)
{
    return openReader(run, std::make_shared<series::BlockCache>());
}

Expected<std::unique_ptr<RunReader>> openReader(const RunHandle& run, std::shared_ptr<series::BlockCache> blocks)
{
    return CapsuleReader::open(run, std::move(blocks));
}

Expected<std::unique_ptr<RunReader>> CapsuleReader::open(
    const RunHandle& run, std::shared_ptr<series::BlockCache> blocks)
{
    auto db = openForReading(run.path);
    if (!db)
        return tl::unexpected<Error>(named(run.path, std::move(db.error())));
    std::unique_ptr<CapsuleReader> reader(new CapsuleReader(run, std::move(*db), std::move(blocks)));
    if (auto ok = reader->prepare(); !ok)
        return tl::unexpected<Error>(named(run.path, std::move(ok.error())));
    return reader;
}

CapsuleReader::CapsuleReader(const RunHandle& run, Connection db, std::shared_ptr<series::BlockCache> blocks)
    : m_path(run.path)
    , m_live(run.live)
    , m_db(std::move(db))
    , m_blocks(std::move(blocks))
{
}

Expected<void> CapsuleReader::prepare()
{
    auto version = Statement::prepare(m_db.get(), "PRAGMA data_version");
    if (!version)
        return tl::unexpected<Error>(std::move(version.error()));
    m_dataVersion = std::move(*version);
    auto snapshot = ReadSnapshot::begin(m_db.get());
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    if (auto ok = refresh(); !ok)
        return ok;
    // A store id names the run, whatever its file is called; a damaged one must not share blocks with others.
    const Catalog& catalog = *m_index->catalog();
    const std::string identity = catalog.storeId.empty()
        ? m_path
        : catalog.storeId + '/' + catalog.runKey + '/' + std::to_string(catalog.createdNs);
    auto tiles = TileSource::make(m_db.get(), std::hash<std::string> {}(identity), m_blocks);
    if (!tiles)
        return tl::unexpected<Error>(std::move(tiles.error()));
    m_tiles = std::move(*tiles);
    return {};
}

Expected<void> CapsuleReader::refresh()
{
    const auto row = m_dataVersion.step();
    if (!row)
        return tl::unexpected<Error>(row.error());
    const std::int64_t version = m_dataVersion.integer(0);
    m_dataVersion.reset();
    const std::uint64_t liveCatalog = m_live ? m_live->catalogRevision.load(std::memory_order_acquire) : 0;
    if (m_hasCatalog && version == m_seenDataVersion && (!m_live || liveCatalog == m_seenCatalog))
        return {};
    std::uint64_t seen = liveCatalog;
    if (!m_live) {
        const auto print = catalogFingerprint(m_db.get());
        if (!print && print.error().code != ErrorCode::Damaged)
            return tl::unexpected<Error>(print.error());
        seen = print.value_or(0);
        auto replayed = replayTail(m_db.get());
        m_tail.clear();
        m_tailDamage.clear();
        if (replayed) {
            for (const auto& tile : replayed->openTiles())
                m_tail[tile->group()].push_back(tile);
            m_tailDamage = replayed->damage;
        } else if (replayed.error().code == ErrorCode::Damaged) {
            m_tailDamage.push_back("the newest steps cannot be read: " + replayed.error().what);
        } else {
            return tl::unexpected<Error>(std::move(replayed.error()));
        }
    }
    if (!m_hasCatalog || seen != m_seenCatalog) {
        if (auto ok = loadCatalog(); !ok)
            return ok;
        m_seenCatalog = seen;
        m_hasCatalog = true;
    }
    m_seenDataVersion = version;
    const auto sources = readSourceSteps(m_db.get());
    if (!sources && sources.error().code != ErrorCode::Damaged)
        return tl::unexpected<Error>(sources.error());
    if (sources) {
        for (const SourceSteps& source : *sources)
            m_index->setSourceSteps(source.source, source.steps);
    }
    return {};
}

Expected<void> CapsuleReader::loadCatalog()
{
    auto catalog = readCatalog(m_db.get());
    if (!catalog)
        return tl::unexpected<Error>(std::move(catalog.error()));
    (*catalog)->revision = m_index ? m_index->catalog()->revision + 1 : 1;
    m_index = std::make_unique<RunIndex>(std::move(*catalog));
    m_published.reset();
    return {};
}

Expected<std::shared_ptr<const Catalog>> CapsuleReader::catalog()
{
    auto snapshot = ReadSnapshot::begin(m_db.get());
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    if (auto ok = refresh(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    const Catalog& base = *m_index->catalog();
    const std::size_t known = base.damage.size() + m_tailDamage.size() + m_damage.size();
    if (m_published && m_published->damage.size() == known)
        return m_published;
    if (known == base.damage.size()) {
        m_published = m_index->catalog();
        return m_published;
    }
    auto published = std::make_shared<Catalog>(base);
    published->damage.insert(published->damage.end(), m_tailDamage.begin(), m_tailDamage.end());
    published->damage.insert(published->damage.end(), m_damage.begin(), m_damage.end());
    m_published = std::move(published);
    return m_published;
}

Expected<std::string> CapsuleReader::blob(const std::string& kind, const std::string& name, Step step)
{
    auto snapshot = ReadSnapshot::begin(m_db.get());
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    return readBlob(m_db.get(), kind, name, step);
}

OpenTiles CapsuleReader::openTiles(GroupId group) const
{
    OpenTiles tiles;
    if (m_live) {
        auto previous = m_live->previousTile(group);
        auto current = m_live->openTile(group);
        if (previous)
            tiles.push_back(std::move(previous));
        if (current && (tiles.empty() || tiles.back() != current))
            tiles.push_back(std::move(current));
    } else if (const auto it = m_tail.find(group); it != m_tail.end()) {
        tiles = it->second;
    }
    return tiles;
}

void CapsuleReader::noteDamage(const TileSet& set, const std::vector<StepRange>& damaged)
{
    for (const StepRange& steps : damaged) {
        if (steps.isEmpty())
            continue;
        const Catalog& catalog = *m_index->catalog();
        const auto group = std::find_if(catalog.groups.begin(), catalog.groups.end(),
            [&set](const GroupInfo& candidate) { return candidate.id == set.group; });
        if (group == catalog.groups.end())
            continue;
        const auto source = std::find_if(catalog.sources.begin(), catalog.sources.end(),
            [&group](const SourceInfo& candidate) { return candidate.id == group->source; });
        std::string sentence = fmt::format("rank {}: {} of {} series of {} is damaged from step {} to {}",
            source == catalog.sources.end() ? -1 : source->rank.value, statName(set.stat), group->seriesCount,
            kindName(group->kind), steps.first.value, steps.last.value);
        if (std::find(m_damage.begin(), m_damage.end(), sentence) == m_damage.end())
            m_damage.push_back(std::move(sentence));
    }
}

}
