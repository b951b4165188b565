// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulewriter.h>

#include <filesystem>

#include <telltale/core/privatefiles.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/schema.h>

namespace telltale::store {
namespace {

Expected<void> writeMeta(sqlite3* db, const RunMeta& meta)
{
    auto insert = Statement::prepare(db, "INSERT INTO meta(key, value) VALUES(?, ?)");
    if (!insert)
        return tl::unexpected<Error>(std::move(insert.error()));
    const std::string created = std::to_string(meta.createdNs);
    const std::pair<const char*, std::string> entries[] = {
        { "store_id", meta.storeId },
        { "run_id", meta.runId },
        { "run_key", meta.runKey },
        { "key_source", meta.keySource },
        { "name", meta.name },
        { "world_size", std::to_string(meta.worldSize) },
        { "created_ns", created },
        { "modified_ns", created },
        { "last_seen_ns", created },
        { "state", std::to_string(static_cast<int>(RunState::Live)) },
    };
    for (const auto& [key, value] : entries) {
        if (auto ok = insert->bindText(1, key).bindText(2, value).run(); !ok)
            return ok;
    }
    return {};
}

Expected<void> writeDraft(const std::string& path, const RunMeta& meta)
{
    // SQLite would ask the umask, and gives the log the rights of its file.
    if (auto made = makePrivateFile(path); !made)
        return made;
    auto db = openDatabase(path, OpenMode::Create);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    // Nobody reads a draft, and it is made durable as a whole.
    auto ok = execute(db->get(), "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
    if (ok)
        ok = createSchema(db->get());
    if (ok)
        ok = writeMeta(db->get(), meta);
    // A file that is in WAL mode from the start needs no journal to get there.
    if (ok)
        ok = execute(db->get(), "PRAGMA journal_mode=WAL");
    return ok;
}

}

Expected<std::unique_ptr<CapsuleWriter>> CapsuleWriter::create(
    const std::string& path, const RunMeta& meta, LiveRun& live)
{
    // A process may die at any moment: the capsule gets its name when it is one.
    const std::string draft = path + std::string(kDraftSuffix);
    std::error_code error;
    std::filesystem::remove(draft, error);
    std::filesystem::remove(draft + "-wal", error);
    auto ok = writeDraft(draft, meta);
    if (ok)
        ok = makeDurable(draft);
    if (ok && ::rename(draft.c_str(), path.c_str()) != 0)
        ok = fileError("name", path);
    if (!ok) {
        std::filesystem::remove(draft, error);
        return tl::unexpected<Error>(std::move(ok.error()));
    }
    // Not every file system can sync a folder, and SQLite does not insist either.
    static_cast<void>(makeDurable(std::filesystem::absolute(path).parent_path().string()));
    return open(path, live, true);
}

}
