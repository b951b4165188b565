// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/directoryreader.h>

#include <algorithm>
#include <utility>

#include <sys/stat.h>

#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/checkedrow.h>
#include <telltale/store/directoryrows.h>
#include <telltale/store/rowsof.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/schema.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {
namespace {

/// What processes produced and neither gave to the store nor counted as dropped: of which steps is not known.
Expected<void> addUnaccounted(sqlite3* db, Catalog& catalog)
{
    const auto state = queryInteger(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key='state'");
    const auto accounts = readAccounts(db, state && *state == static_cast<std::int64_t>(RunState::Live));
    if (!accounts)
        return tl::unexpected<Error>(accounts.error());
    for (const SourceAccount& account : *accounts) {
        const bool isUnknown = !account.isExact && !account.hasSaidBye;
        const char* const reason = !isUnknown
            ? "made and never stored: lost with its process, or still in its spool"
            : "its process ended without a word: how many more it had made is not known";
        const auto add = [&](std::uint32_t dropClass, std::uint64_t items) {
            const auto source = std::find_if(catalog.sources.begin(), catalog.sources.end(),
                [&account](const SourceInfo& candidate) { return candidate.id == account.source; });
            LogRecord record;
            record.kind = "drop";
            record.source = account.source;
            record.rank = source == catalog.sources.end() ? Rank { -1 } : source->rank;
            record.text = reason;
            record.isDrop = true;
            record.dropClass = dropClass;
            record.items = items;
            catalog.unaccounted.push_back(std::move(record));
        };
        if (account.samples.missing > 0 || isUnknown)
            add(dropclass::kTensors, account.samples.missing);
        if (account.scalars.missing > 0)
            add(dropclass::kScalars, account.scalars.missing);
    }
    return {};
}

Expected<void> addChanged(StatementCache& db, Catalog& catalog)
{
    return forEachRow(
        db.prepare("SELECT rank, attempt FROM source WHERE " + sourceWasChanged()), [&catalog](const Statement& row) {
            catalog.damage.push_back("rank " + std::to_string(row.integer(0)) + ", attempt "
                + std::to_string(row.integer(1))
                + ": what the run says of it was changed; its rank, its steps or how it ended may be wrong");
        });
}

/// All of `old` and what `added` has more.
template <typename Row> void putBefore(const std::vector<Row>& old, std::vector<Row>& added)
{
    added.insert(added.begin(), old.begin(), old.end());
}

bool isOfSameRun(const Catalog& a, const Catalog& b)
{
    return a.storeId == b.storeId && a.runKey == b.runKey && a.createdNs == b.createdNs;
}

}

Expected<void> DirectoryReader::refresh(StatementCache& db, bool withSteps)
{
    const auto last = m_last;
    const auto damage = m_damage;
    auto ok = readOn(db, withSteps);
    if (!ok && m_catalog) { // what was read is in no catalog: it is read again
        m_last = last;
        m_damage = damage;
    } else if (!ok) {
        *this = {};
    }
    return ok;
}

Expected<void> DirectoryReader::readOn(StatementCache& db, bool withSteps)
{
    DirectoryReading reading;
    for (std::size_t i = 0; i < kParts; ++i) {
        const DirectoryPart& part = directoryParts()[i];
        if (part.isAppended && m_catalog && !isOfSameRun(*m_catalog, *reading.catalog)) {
            *this = {}; // another file lies there
            return readOn(db, withSteps);
        }
        if (!part.isAppended)
            m_damage[i] = {};
        auto rows = db.prepare(part.sql);
        if (!rows)
            return tl::unexpected<Error>(std::move(rows.error()));
        if (part.isAppended)
            rows->bind(1, m_last[i]);
        for (;;) {
            const auto more = rows->step();
            if (!more && more.error().code != ErrorCode::Damaged)
                return tl::unexpected<Error>(more.error());
            m_damage[i].isCut = !more;
            if (!more || !*more)
                break;
            CheckedRow row(*rows);
            if (part.isAppended) {
                m_last[i] = row.any(0);
                ++m_rowsRead;
            }
            part.read(row, reading);
            m_damage[i].rows += row.isGood() ? 0 : 1;
        }
    }
    Catalog& catalog = *reading.catalog;
    m_sources = catalog.sources;
    for (const MissingInfo& missing : catalog.missing)
        reading.mark += std::to_string(missing.source.value) + '?' + std::to_string(missing.count()) + '\n';
    catalog.damage = damageSentences();
    if (auto ok = addChanged(db, catalog); !ok && ok.error().code != ErrorCode::Damaged)
        return ok;
    for (const std::string& sentence : catalog.damage)
        reading.mark += sentence + '\n';
    const bool isNew = !m_catalog || !catalog.groups.empty() || !catalog.series.empty() || reading.mark != m_mark
        || (withSteps && catalog.steps != m_catalog->steps);
    if (!isNew)
        return {};
    if (auto ok = addUnaccounted(db.db(), catalog); !ok && ok.error().code == ErrorCode::Damaged)
        catalog.damage.emplace_back("what became of the samples cannot be read completely");
    else if (!ok)
        return ok;
    if (m_catalog) {
        putBefore(m_catalog->groups, catalog.groups);
        putBefore(m_catalog->series, catalog.series);
    }
    catalog.rows = indexRows(catalog, m_catalog.get());
    catalog.revision = m_catalog ? m_catalog->revision + 1 : 1;
    m_mark = std::move(reading.mark);
    m_catalog = std::move(reading.catalog);
    return {};
}

std::vector<std::string> DirectoryReader::damageSentences() const
{
    std::vector<std::string> sentences;
    for (std::size_t i = 0; i < kParts; ++i) {
        const std::string what = directoryParts()[i].what;
        if (m_damage[i].isCut)
            sentences.push_back(what + " cannot be read completely");
        if (m_damage[i].rows > 0)
            sentences.push_back(what + " has " + std::to_string(m_damage[i].rows)
                + (m_damage[i].rows == 1 ? " damaged row, which is left out" : " damaged rows, which are left out"));
    }
    return sentences;
}

LiveRun::LiveRun()
    : m_directory(std::make_shared<SharedDirectory>())
{
}

std::shared_ptr<SharedDirectory> Directories::of(const std::string& path)
{
    struct stat info { };
    const bool exists = stat(path.c_str(), &info) == 0;
    const std::uint64_t file = exists ? info.st_ino * 0x9E3779B97F4A7C15u + info.st_dev : 0;
    const std::lock_guard lock(m_mutex);
    const auto it = std::find_if(
        m_known.begin(), m_known.end(), [&](const Known& known) { return known.path == path && known.file == file; });
    if (it != m_known.end()) {
        m_known.splice(m_known.begin(), m_known, it);
    } else {
        m_known.push_front({ path, file, std::make_shared<SharedDirectory>() });
        if (m_known.size() > kMost)
            m_known.pop_back();
    }
    return m_known.front().shared;
}

}
