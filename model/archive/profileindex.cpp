// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/archive/profileindex.h>

#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include <telltale/core/privatefiles.h>
#include <telltale/store/archiveindex.h>
#include <telltale/store/sqlite.h>

namespace telltale::archive {
namespace {

using Json = nlohmann::json;
using store::FileMark;
using store::Statement;

constexpr int kFormat = 1; ///< of the file; another one is made again
constexpr std::size_t kAtOnce = 64; ///< profiles that are written together

std::string textOf(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string markText(const FileMark& mark)
{
    return textOf(Json { mark.inode, mark.bytes, mark.modifiedNs, mark.logBytes, mark.logModifiedNs });
}

std::string profileText(const RunProfile& profile)
{
    return textOf(Json { profile.tags, profile.notes, profile.incidents, profile.settings });
}

std::shared_ptr<const RunProfile> profileFrom(std::string_view text)
{
    auto profile = std::make_shared<RunProfile>();
    try {
        const Json json = Json::parse(text);
        json.at(0).get_to(profile->tags);
        json.at(1).get_to(profile->notes);
        json.at(2).get_to(profile->incidents);
        json.at(3).get_to(profile->settings);
    } catch (const Json::exception&) {
        return nullptr; // another's, or damaged: the run is read again
    }
    return profile;
}

/// The file, or a place in memory where it cannot be had: then nothing is kept.
Expected<store::Connection> openIndex(const std::string& path)
{
    constexpr const char* kTable
        = "CREATE TABLE IF NOT EXISTS profile(path TEXT PRIMARY KEY, mark TEXT, facts TEXT) WITHOUT ROWID";
    const auto open = [&]() -> Expected<store::Connection> {
        std::error_code error;
        if (auto ok = std::filesystem::exists(path, error) ? Expected<void>() : makePrivateFile(path); !ok)
            return tl::unexpected(ok.error());
        auto db = store::openDatabase(path, store::OpenMode::Create);
        if (!db)
            return db;
        const auto format = store::queryInteger(db->get(), "PRAGMA user_version");
        const auto tables = store::queryInteger(db->get(), "SELECT count(*) FROM sqlite_schema");
        if (!format || !tables || (*tables > 0 && *format != kFormat))
            return failure(ErrorCode::Damaged, "another's file");
        auto ok = store::execute(db->get(), "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY");
        if (ok)
            ok = store::execute(db->get(), kTable);
        if (ok)
            ok = store::execute(db->get(), ("PRAGMA user_version=" + std::to_string(kFormat)).c_str());
        return ok ? std::move(db) : tl::unexpected(ok.error());
    };
    auto db = open();
    if (!db && db.error().code == ErrorCode::Damaged) {
        std::error_code error;
        std::filesystem::remove(path, error);
        db = open();
    }
    return db;
}

}

Expected<ProfileIndex::Profiles> ProfileIndex::read(
    const std::vector<store::RunSummary>& runs, const Progress& progress)
{
    Profiles profiles;
    const auto db = openIndex(m_dataDir + "/runs.profiles");
    std::map<store::RunLocator, FileMark> wanted;
    for (const store::RunSummary& run : runs)
        wanted.emplace(run.locator, FileMark::of(run.locator.text()));
    std::set<std::string> gone;
    if (db) {
        static_cast<void>(
            store::forEachRow(db->get(), "SELECT path, mark, facts FROM profile", [&](const Statement& row) {
                const auto run = wanted.find(store::RunLocator::ofFile(std::string(row.text(0))));
                std::error_code error;
                if (run == wanted.end() && !std::filesystem::exists(std::string(row.text(0)), error))
                    gone.emplace(row.text(0));
                else if (run != wanted.end() && markText(run->second) == row.text(1)) {
                    if (auto profile = profileFrom(row.text(2)))
                        profiles.emplace(run->first, std::move(profile));
                }
            }));
    }
    std::vector<store::RunLocator> unread;
    for (const auto& [run, mark] : wanted) {
        if (!profiles.contains(run))
            unread.push_back(run);
    }
    const auto run = [&db](const char* sql, const auto&... values) {
        auto statement = db ? Statement::prepare(db->get(), sql) : tl::unexpected(db.error());
        if (statement)
            static_cast<void>(statement->run(values...)); // a disk that is full costs time, nothing else
    };
    std::size_t written = 0;
    bool isStopped = false;
    for (std::size_t i = 0; i < unread.size() && !isStopped; ++i) {
        isStopped = progress && !progress(i, unread.size());
        auto profile = isStopped ? failure(ErrorCode::Canceled, "canceled") : readProfile(unread[i]);
        if (!profile)
            continue;
        if (written++ % kAtOnce == 0)
            run("BEGIN");
        run("INSERT OR REPLACE INTO profile(path, mark, facts) VALUES(?, ?, ?)", unread[i].text(),
            markText(wanted.at(unread[i])), profileText(*profile));
        if (written % kAtOnce == 0)
            run("COMMIT");
        profiles.emplace(unread[i], std::make_shared<const RunProfile>(std::move(*profile)));
    }
    for (const std::string& path : gone)
        run("DELETE FROM profile WHERE path = ?", path);
    if (written % kAtOnce != 0)
        run("COMMIT");
    if (isStopped)
        return failure(ErrorCode::Canceled, "canceled");
    return profiles;
}

}
