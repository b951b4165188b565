// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/pins.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <telltale/core/privatefiles.h>
#include <telltale/store/runfiles.h>

namespace telltale::store {
namespace {

std::string pinsFile(const std::string& dataDir)
{
    return dataDir + "/pins";
}

}

Expected<Pins> Pins::read(const std::string& dataDir)
{
    Pins pins(dataDir);
    const std::string path = pinsFile(dataDir);
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error)
        return pins;
    std::ifstream file(path, std::ios::binary);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (!json.is_array())
        return failure(ErrorCode::Damaged, "the list of pinned runs cannot be read: " + path,
            "delete the file if it is not needed; until then nothing counts as unpinned");
    for (const auto& name : json) {
        if (name.is_string())
            pins.m_files.insert(name.get<std::string>());
    }
    return pins;
}

std::string Pins::nameOf(const RunLocator& run) const
{
    std::error_code error;
    const auto path = std::filesystem::absolute(run.text(), error);
    const bool isHere = std::filesystem::equivalent(path.parent_path(), runsFolder(m_dataDir), error);
    return isHere ? path.filename().string() : std::string();
}

bool Pins::has(const RunLocator& run) const
{
    return !m_files.empty() && m_files.contains(nameOf(run));
}

Expected<void> Pins::set(const RunLocator& run, bool isPinned)
{
    const std::string name = nameOf(run);
    if (name.empty())
        return failure(ErrorCode::BadInput, run.text() + " is no run of " + m_dataDir,
            "only those are removed by a rule; 'telltale import' takes one in");
    if (isPinned)
        m_files.insert(name);
    else
        m_files.erase(name);
    const std::string draft = pinsFile(m_dataDir) + "." + std::to_string(::getpid());
    std::error_code error;
    std::filesystem::remove(draft, error);
    auto ok = makePrivateFile(draft);
    if (ok) {
        std::ofstream file(draft, std::ios::binary | std::ios::trunc);
        file << nlohmann::json(m_files).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
        file.close();
        ok = file ? makeDurable(draft) : Expected<void>(fileError("write", draft));
    }
    if (ok && ::rename(draft.c_str(), pinsFile(m_dataDir).c_str()) != 0)
        ok = fileError("write", pinsFile(m_dataDir));
    if (!ok)
        std::filesystem::remove(draft, error);
    return ok;
}

}
