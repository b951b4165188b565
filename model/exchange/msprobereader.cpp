// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/msprobereader.h>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/mappedfile.h>
#include <telltale/exchange/msprobefolder.h>
#include <telltale/exchange/msproberows.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

void readStacks(const fs::path& path, ForeignProcess& process, ForeignRun& run)
{
    const auto file = MappedFile::open(path);
    CsvRows rows(file ? file->bytes() : std::string_view());
    OrderedJson stacks = OrderedJson::object();
    for (bool isHead = true; rows.next(); isHead = false) {
        if (isHead)
            continue;
        if (rows.cells().size() == 2)
            stacks[std::string(rows.cells()[0])] = std::string(rows.cells()[1]);
        else
            run.noteDamage(path.string() + ": line " + std::to_string(rows.line()) + " has no module and stack");
    }
    if (!file || rows.isTorn() || stacks.empty())
        run.noteDamage(path.string() + ": " + (file ? "it ends within a stack, or has none" : file.error().what));
    if (!stacks.empty())
        process.documents.push_back(
            { "stack", "stack_info", Step { 0 }, stacks.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) });
}

OrderedJson readJson(const fs::path& path, ForeignRun& run)
{
    const auto file = MappedFile::open(path);
    OrderedJson json = file ? OrderedJson::parse(file->bytes(), nullptr, false) : OrderedJson();
    if (!file || json.is_discarded() || !json.is_object()) {
        run.noteDamage(path.string() + ": it is no JSON object");
        return OrderedJson::object();
    }
    return json;
}

void readStructure(const fs::path& path, ForeignProcess& process, ForeignRun& run)
{
    const OrderedJson structure = readJson(path, run);
    if (!structure.empty())
        process.documents.push_back({ "module_struct", "module_struct", Step { 0 },
            structure.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) });
}

void readAlerts(const fs::path& path, ForeignProcess& process, ForeignRun& run)
{
    const OrderedJson alerts = readJson(path, run);
    for (const auto& [key, entry] : alerts.items()) {
        const bool isSound = entry.is_object() && entry.contains("step") && entry["step"].is_number_integer()
            && entry.contains("message") && entry["message"].is_string();
        if (!isSound) {
            run.leaveOut("alerts of msprobe's without a step or a message");
            continue;
        }
        Event event;
        event.kind = "anomaly";
        event.step = Step { entry["step"].get<std::int64_t>() };
        event.text = entry["message"].get<std::string>();
        event.json = entry.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
        if (event.text.starts_with("Rule "))
            event.rule = event.text.substr(5, event.text.find(' ', 5) - 5);
        process.events.push_back(std::move(event));
    }
}

/// What lies beside the folders of one run, for a rank: in the folder above.
void readBeside(const MsprobeFolder& folder, ForeignProcess& process, ForeignRun& run)
{
    std::error_code error;
    const fs::path base = fs::absolute(folder.path).parent_path();
    const std::string rank = "rank" + std::to_string(folder.rank.value);
    if (const fs::path structure = base / "module_struct" / rank / "module_struct.json"; fs::exists(structure, error))
        readStructure(structure, process, run);
    if (const fs::path alerts = base / "anomaly_detected" / rank / "anomaly.json"; fs::exists(alerts, error))
        readAlerts(alerts, process, run);
}

/// A folder that has nothing but module_struct/rankN.
std::vector<std::pair<Rank, fs::path>> structuresIn(const fs::path& path)
{
    std::vector<std::pair<Rank, fs::path>> found;
    std::error_code error;
    for (const fs::path& base : { path / "module_struct", path }) {
        auto it = fs::directory_iterator(base, error);
        for (; !error && it != fs::directory_iterator(); it.increment(error)) {
            const std::string name = it->path().filename().string();
            const auto rank = name.starts_with("rank") ? csvInteger(std::string_view(name).substr(4)) : std::nullopt;
            std::error_code unknown;
            if (rank && *rank >= 0 && *rank < 100'000 && fs::exists(it->path() / "module_struct.json", unknown))
                found.emplace_back(Rank { static_cast<std::int32_t>(*rank) }, it->path() / "module_struct.json");
        }
        if (!found.empty())
            break;
    }
    return found;
}

}

bool MsprobeReader::claims(const fs::path& path) const
{
    return !findMsprobe(path).empty() || !structuresIn(path).empty();
}

Expected<void> MsprobeReader::read(const fs::path& path, ForeignRun& run, const Progress& progress) const
{
    const std::vector<MsprobeFolder> folders = findMsprobe(path);
    if (folders.empty()) {
        for (const auto& [rank, file] : structuresIn(path))
            readStructure(file, run.process(rank, run.attemptsOf(rank)), run);
        return {};
    }
    std::size_t files = 0, done = 0;
    for (const MsprobeFolder& folder : folders)
        files += folder.files.size();
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const MsprobeFolder& folder = folders[i];
        ForeignProcess& process = run.process(folder.rank, run.attemptsOf(folder.rank));
        process.framework = "msprobe";
        MsprobeRows rows(process, run);
        for (const MsprobeFile& file : folder.files) {
            if (auto on = goOn(progress, static_cast<double>(done++) / static_cast<double>(files)); !on)
                return on;
            rows.read(file);
        }
        std::error_code error;
        if (const fs::path stacks = folder.path / "stack_info.csv"; fs::exists(stacks, error))
            readStacks(stacks, process, run);
        // Alerts and structure of a folder are of its newest run.
        const bool isNewest = i + 1 == folders.size() || folders[i + 1].rank != folder.rank;
        if (isNewest)
            readBeside(folder, process, run);
        const std::int64_t changed = changedNs(folder.path);
        if (changed > 0 && (run.createdNs == 0 || changed < run.createdNs))
            run.createdNs = changed;
    }
    return {};
}

}
