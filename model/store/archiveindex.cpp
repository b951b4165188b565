// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/archiveindex.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace telltale::store {
namespace {

constexpr int kFormat = 2;

std::int64_t nanoseconds(const timespec& time)
{
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

nlohmann::json toJson(const FileMark& mark, const RunSummary& run)
{
    return { mark.inode, mark.bytes, mark.modifiedNs, mark.logBytes, mark.logModifiedNs, run.id, run.name,
        static_cast<int>(run.state), run.ranks, run.lastStep.value, run.fileBytes, run.createdNs, run.modifiedNs,
        run.missingBatches, run.note, run.key };
}

}

FileMark FileMark::of(const std::string& path)
{
    FileMark mark;
    struct stat info { };
    if (::stat(path.c_str(), &info) != 0)
        return mark;
    mark.inode = info.st_ino;
    mark.bytes = info.st_size;
    mark.modifiedNs = nanoseconds(info.st_mtim);
    if (::stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0) { // who reads a run may leave an empty one
        mark.logBytes = info.st_size;
        mark.logModifiedNs = nanoseconds(info.st_mtim);
    }
    return mark;
}

ArchiveIndex::ArchiveIndex(std::string dataDir)
    : m_path(std::move(dataDir) + "/runs.index")
{
    std::ifstream file(m_path, std::ios::binary);
    const auto document = file ? nlohmann::json::parse(file, nullptr, false) : nlohmann::json();
    if (!document.is_object() || document.value("format", 0) != kFormat)
        return;
    try {
        for (const auto& [path, row] : document.at("runs").items()) {
            Entry entry;
            entry.mark = { row.at(0), row.at(1), row.at(2), row.at(3), row.at(4) };
            RunSummary& run = entry.run;
            run.locator = RunLocator::ofFile(path);
            run.id = row.at(5);
            run.name = row.at(6);
            run.state = static_cast<RunState>(row.at(7).get<int>());
            run.ranks = row.at(8);
            run.lastStep = Step { row.at(9) };
            run.fileBytes = row.at(10);
            run.createdNs = row.at(11);
            run.modifiedNs = row.at(12);
            run.missingBatches = row.at(13);
            run.note = row.at(14);
            run.key = row.at(15);
            m_entries.emplace(path, std::move(entry));
        }
    } catch (const nlohmann::json::exception&) {
        m_entries.clear(); // somebody else's file, or half of ours: everything is read again
        m_isChanged = true;
    }
}

const RunSummary* ArchiveIndex::find(const std::string& path, const FileMark& mark) const
{
    const auto found = m_entries.find(path);
    if (found == m_entries.end() || found->second.mark != mark)
        return nullptr;
    found->second.isThere = true;
    return &found->second.run;
}

void ArchiveIndex::put(const std::string& path, const FileMark& mark, const RunSummary& run)
{
    if (run.state == RunState::Live || run.state == RunState::Interrupted)
        return;
    m_entries[path] = { mark, run, true };
    m_isChanged = true;
}

void ArchiveIndex::save(std::size_t count)
{
    m_isChanged |= std::erase_if(m_entries, [](const auto& entry) { return !entry.second.isThere; }) > 0;
    if (m_isChanged && count >= kWorthwhile)
        write();
}

void ArchiveIndex::keepDamage(const std::string& path, const FileMark& mark, const std::string& sentence)
{
    const RunSummary* known = find(path, mark);
    const bool isKnown = known && known->state == RunState::Damaged;
    if (sentence.empty() ? !isKnown : isKnown && known->note == sentence)
        return;
    m_entries.erase(path); // a run that is whole after all is read again
    if (!sentence.empty()) {
        RunSummary run = describeRun(RunLocator::ofFile(path));
        if (run.state == RunState::Live)
            return;
        run.state = RunState::Damaged;
        run.note = sentence;
        put(path, mark, run);
    }
    write();
}

void ArchiveIndex::write()
{
    nlohmann::json runs = nlohmann::json::object();
    for (const auto& [path, entry] : m_entries)
        runs[path] = toJson(entry.mark, entry.run);
    const std::string draft = m_path + "." + std::to_string(::getpid());
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    const nlohmann::json document { { "format", kFormat }, { "runs", std::move(runs) } };
    file << document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    file.close();
    if (file && ::chmod(draft.c_str(), S_IRUSR | S_IWUSR) == 0 && ::rename(draft.c_str(), m_path.c_str()) == 0)
        m_isChanged = false;
    else
        ::unlink(draft.c_str());
}

}
