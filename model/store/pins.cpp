// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/pins.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

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
    // Moving it into another folder changes nothing.
    return liesIn(run.text(), runsFolder(m_dataDir)) ? std::filesystem::path(run.text()).filename().string()
                                                     : std::string();
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
    return replacePrivateFile(pinsFile(m_dataDir),
        nlohmann::json(m_files).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

}
