// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulereader.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <telltale/store/capsulefile.h>
#include <telltale/store/logreader.h>
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

Expected<std::vector<LogRecord>> readWholeLog(RunReader& reader, const LogFilter& filter)
{
    auto whole = reader.log({}, filter, std::numeric_limits<int>::max());
    if (!whole)
        return tl::unexpected<Error>(std::move(whole.error()));
    const auto catalog = reader.catalog();
    if (!catalog)
        return tl::unexpected<Error>(catalog.error());
    for (const LogRecord& record : (*catalog)->unaccounted) {
        const bool isWanted = (filter.kind.empty() || filter.kind == record.kind)
            && (!filter.rank || filter.rank == record.rank) && !filter.steps;
        if (isWanted)
            whole->records.push_back(record);
    }
    std::stable_sort(whole->records.begin(), whole->records.end(),
        [](const LogRecord& a, const LogRecord& b) { return a.placeNs() < b.placeNs(); });
    return std::move(whole->records);
}

Expected<std::unique_ptr<RunReader>> CapsuleReader::open(const RunHandle& run, SharedReads& shared)
{
    auto db = openForReading(run.locator.text());
    if (!db)
        return tl::unexpected<Error>(named(run.locator.text(), std::move(db.error())));
    std::unique_ptr<CapsuleReader> reader(new CapsuleReader(run, std::move(*db), shared));
    if (auto ok = reader->prepare(); !ok)
        return tl::unexpected<Error>(named(run.locator.text(), std::move(ok.error())));
    return reader;
}

CapsuleReader::CapsuleReader(const RunHandle& run, Connection db, SharedReads& shared)
    : m_path(run.locator.text())
    , m_live(run.live)
    , m_db(std::move(db))
    , m_statements(m_db.get())
    , m_blocks(shared.blocks)
    , m_helpers(shared.helpers)
    , m_directory(run.live ? run.live->directory() : shared.directories.of(run.locator.text()))
{
}

Expected<void> CapsuleReader::prepare()
{
    auto version = Statement::prepare(m_db.get(), "PRAGMA data_version");
    if (!version)
        return tl::unexpected<Error>(std::move(version.error()));
    m_dataVersion = std::move(*version);
    auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    // Who follows the log of a run that is recorded here has no use for its directory, which may be large.
    if (auto ok = m_live ? Expected<void>() : refresh(); !ok)
        return ok;
    if (std::string lost = lostLogSentence(m_db.get(), m_path); !lost.empty())
        m_damage.push_back(std::move(lost));
    return {};
}

Expected<void> CapsuleReader::refresh()
{
    m_home.check();
    const auto row = m_dataVersion.step();
    if (!row)
        return tl::unexpected<Error>(row.error());
    const std::int64_t version = m_dataVersion.integer(0);
    m_dataVersion.reset();
    if (m_index.catalog() && version == m_seenDataVersion)
        return {};
    auto ok = m_live ? Expected<void>() : refreshTail();
    if (ok)
        ok = refreshDirectory();
    if (ok)
        ok = refreshLosses();
    if (!ok || m_tiles) {
        m_seenDataVersion = ok ? version : m_seenDataVersion;
        return ok;
    }
    // A store id names the run, whatever its file is called; a damaged one must not share blocks with others.
    const Catalog& catalog = *m_index.catalog();
    const std::string identity = catalog.storeId.empty()
        ? m_path
        : catalog.storeId + '/' + catalog.runKey + '/' + std::to_string(catalog.createdNs);
    auto tiles = TileSource::make(m_db.get(), std::hash<std::string> {}(identity), m_blocks, m_helpers);
    if (!tiles)
        return tl::unexpected<Error>(std::move(tiles.error()));
    m_tiles = std::move(*tiles);
    m_seenDataVersion = version;
    return {};
}

Expected<void> CapsuleReader::refreshDirectory()
{
    const std::lock_guard lock(m_directory->mutex);
    // What readers share may be older than this one.
    if (auto ok = m_directory->reader.refresh(m_statements, !m_live && !m_index.catalog()); !ok)
        return ok;
    m_index.setCatalog(m_directory->reader.catalog());
    m_index.setSources(m_directory->reader.sources());
    return {};
}

Expected<void> CapsuleReader::refreshTail()
{
    // The run of a server that ended it, as most are: there is nothing to put together.
    if (const auto rows = queryInteger(m_statements.prepare("SELECT EXISTS(SELECT 1 FROM tail)")); rows && *rows == 0) {
        m_tail.clear();
        m_tailDamage.clear();
        return {};
    }
    auto replayed = replayTail(m_db.get());
    if (!replayed && replayed.error().code != ErrorCode::Damaged)
        return tl::unexpected<Error>(std::move(replayed.error()));
    m_tail.clear();
    m_tailDamage.clear();
    if (!replayed) {
        m_tailDamage.push_back("the newest steps cannot be read: " + replayed.error().what);
        return {};
    }
    for (const auto& tile : replayed->openTiles())
        m_tail[tile->group()].push_back(tile);
    m_tailDamage = replayed->damage;
    return {};
}

Expected<void> CapsuleReader::refreshLosses()
{
    constexpr std::size_t kAll = std::numeric_limits<int>::max();
    const auto gaps = readLog(m_statements, m_seenLosses, { "gap", {}, {} }, kAll, m_damage);
    if (!gaps)
        return tl::unexpected<Error>(gaps.error());
    const LogCursor behindEvents { gaps->next.event, m_seenLosses.drop };
    const auto drops = readLog(m_statements, behindEvents, { "drop", {}, {} }, kAll, m_damage);
    if (!drops)
        return tl::unexpected<Error>(drops.error());
    m_index.addLosses(gaps->records);
    m_index.addLosses(drops->records);
    m_seenLosses = drops->next;
    return {};
}

Expected<LogPage> CapsuleReader::log(LogCursor after, const LogFilter& filter, std::size_t limit)
{
    m_home.check();
    auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    return readLog(m_statements, after, filter, limit, m_damage);
}

Expected<std::shared_ptr<const Catalog>> CapsuleReader::catalog()
{
    m_home.check();
    auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    if (auto ok = refresh(); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    std::vector<std::string> met;
    {
        const std::lock_guard lock(m_directory->mutex);
        met = m_directory->damage;
    }
    const Catalog& base = *m_index.catalog();
    const std::size_t known = base.damage.size() + m_tailDamage.size() + m_damage.size() + met.size();
    if (m_published && m_publishedRevision == base.revision && m_published->damage.size() == known)
        return m_published;
    m_publishedRevision = base.revision;
    if (known == base.damage.size()) {
        m_published = m_index.catalog();
        return m_published;
    }
    auto published = std::make_shared<Catalog>(base);
    published->damage.insert(published->damage.end(), m_tailDamage.begin(), m_tailDamage.end());
    published->damage.insert(published->damage.end(), m_damage.begin(), m_damage.end());
    published->damage.insert(published->damage.end(), met.begin(), met.end());
    m_published = std::move(published);
    return m_published;
}

Expected<std::string> CapsuleReader::blob(const std::string& kind, const std::string& name, Step step)
{
    m_home.check();
    auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    return readBlob(m_db.get(), kind, name, step);
}

Expected<std::vector<DocumentInfo>> CapsuleReader::documents(const std::string& kind, std::int64_t after)
{
    m_home.check();
    auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    if (after != 0)
        return listBlobs(m_db.get(), kind, after);
    std::vector<DocumentInfo>& known = m_documents[kind];
    auto added = listBlobs(m_db.get(), kind, known.empty() ? 0 : known.back().id);
    if (!added)
        return added;
    std::move(added->begin(), added->end(), std::back_inserter(known));
    return known;
}

Expected<std::string> CapsuleReader::document(std::int64_t id)
{
    m_home.check();
    auto snapshot = ReadSnapshot::begin(m_statements);
    if (!snapshot)
        return tl::unexpected<Error>(std::move(snapshot.error()));
    return readBlob(m_db.get(), id);
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
    const bool hasMisplaced = m_tiles->hasMisplaced(set.group);
    if (damaged.empty() && !hasMisplaced)
        return;
    const Catalog& catalog = *m_index.catalog();
    const auto group = std::find_if(catalog.groups.begin(), catalog.groups.end(),
        [&set](const GroupInfo& candidate) { return candidate.id == set.group; });
    if (group == catalog.groups.end())
        return;
    const auto source = std::find_if(catalog.sources.begin(), catalog.sources.end(),
        [&group](const SourceInfo& candidate) { return candidate.id == group->source; });
    const auto note = [&](std::string_view stat, const std::string& what) {
        std::string sentence = fmt::format("rank {}: {} of {} series of {} {}",
            source == catalog.sources.end() ? -1 : source->rank.value, stat, group->lanes / group->bins(),
            kindName(group->kind), what);
        const std::lock_guard lock(m_directory->mutex);
        auto& met = m_directory->damage;
        if (std::find(met.begin(), met.end(), sentence) == met.end())
            met.push_back(std::move(sentence));
    };
    for (const StepRange& steps : damaged) {
        if (!steps.isEmpty())
            note(statName(set.stat), fmt::format("is damaged from step {} to {}", steps.first.value, steps.last.value));
    }
    if (hasMisplaced)
        note("a tile", "lies where it does not belong and is left out");
}

}
