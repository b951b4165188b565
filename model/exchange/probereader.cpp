// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/probereader.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/mappedfile.h>
#include <telltale/exchange/probesummary.h>
#include <telltale/exchange/signfile.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = std::size_t { 1 } << 20; ///< elements whose signs are one document
constexpr std::int64_t kMostRanks = 100'000;

/// Of "rank3" and "rank_3", as the documents also have it, the 3.
std::optional<std::int64_t> numberBehind(std::string_view name, std::string_view word)
{
    if (!name.starts_with(word))
        return {};
    name.remove_prefix(word.size());
    name.remove_prefix(name.starts_with('_') ? 1 : 0);
    const bool isNumber = !name.empty() && name.size() < 16
        && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    return isNumber ? csvInteger(name) : std::nullopt;
}

/// Of "grad_summary_3.csv" the 3.
std::optional<std::int64_t> stepOfSummary(const fs::path& path)
{
    return path.extension() == ".csv" ? numberBehind(path.stem().string(), "grad_summary_") : std::nullopt;
}

std::map<std::int64_t, fs::path> numberedIn(const fs::path& folder, std::string_view word)
{
    std::map<std::int64_t, fs::path> found;
    std::error_code error;
    for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
        std::error_code unknown;
        const auto number = numberBehind(it->path().filename().string(), word);
        if (number && it->is_directory(unknown))
            found.try_emplace(*number, it->path());
    }
    return found;
}

/// What grad_probe left of one rank.
struct ProbeRank {
    Rank rank;
    std::map<std::int64_t, fs::path> summaries, steps;
};

ProbeRank openRank(const fs::path& path, std::int64_t rank)
{
    ProbeRank found { Rank { static_cast<std::int32_t>(rank) }, {}, numberedIn(path, "step") };
    std::error_code error;
    for (auto it = fs::directory_iterator(path, error); !error && it != fs::directory_iterator(); it.increment(error)) {
        if (const auto step = stepOfSummary(it->path()))
            found.summaries.emplace(*step, it->path());
    }
    return found;
}

std::int64_t rankOfFolder(const fs::path& path)
{
    fs::path whole = fs::absolute(path).lexically_normal();
    if (!whole.has_filename())
        whole = whole.parent_path();
    const auto rank = numberBehind(whole.filename().string(), "rank");
    return rank && *rank < kMostRanks ? *rank : 0;
}

/// A folder with ranks in it, a rank's, or a summary.
std::vector<ProbeRank> ranksOf(const fs::path& path)
{
    std::vector<ProbeRank> ranks;
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        if (const auto step = stepOfSummary(path))
            ranks.push_back({ Rank { static_cast<std::int32_t>(rankOfFolder(fs::absolute(path).parent_path())) },
                { { *step, path } }, {} });
        return ranks;
    }
    for (const auto& [rank, folder] : numberedIn(path, "rank")) {
        if (rank < kMostRanks)
            ranks.push_back(openRank(folder, rank));
    }
    if (ranks.empty())
        ranks.push_back(openRank(path, rankOfFolder(path)));
    std::erase_if(ranks, [](const ProbeRank& one) { return one.summaries.empty(); });
    return ranks;
}

/// The files of signs of a step by parameter, which has its slashes in it as "%2F".
std::map<std::string, fs::path> signFilesIn(const fs::path& folder)
{
    std::map<std::string, fs::path> found;
    std::error_code error;
    for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
        const std::string stem = it->path().stem().string();
        if (it->path().extension() != ".npy" || stem.starts_with('.'))
            continue;
        std::string name;
        for (std::size_t i = 0; i < stem.size(); ++i) {
            const bool isSlash = stem.compare(i, 3, "%2F") == 0;
            name += isSlash ? '/' : stem[i];
            i += isSlash ? 2 : 0;
        }
        found.emplace(std::move(name), it->path());
    }
    return found;
}

void readSigns(
    const fs::path& path, const std::string& name, std::int64_t step, ForeignProcess& process, ForeignRun& run)
{
    auto file = SignFile::open(path);
    if (!file)
        return run.noteDamage(file.error().sentence());
    const auto shared = std::make_shared<const SignFile>(std::move(*file));
    for (std::size_t first = 0; first < std::max<std::size_t>(shared->numel, 1); first += kAtOnce) {
        const std::size_t count = std::min(kAtOnce, shared->numel - first);
        // Read when it is written: the signs of a whole model are larger than the memory.
        process.documents.push_back(
            { "grad_sign", name, Step { step }, {}, [=] { return shared->part(first, count); } });
    }
}

}

bool ProbeReader::claims(const fs::path& path) const
{
    const std::vector<ProbeRank> ranks = ranksOf(path);
    return std::any_of(ranks.begin(), ranks.end(), [](const ProbeRank& one) {
        return std::any_of(one.summaries.begin(), one.summaries.end(), [](const auto& summary) {
            const std::string head = headOf(summary.second);
            CsvRows rows(head);
            return rows.next() && ProbeHead(rows.cells()).isSummary();
        });
    });
}

Expected<void> ProbeReader::read(const fs::path& path, ForeignRun& run, const Progress& progress) const
{
    const std::vector<ProbeRank> ranks = ranksOf(path);
    double files = 1, done = 0;
    for (const ProbeRank& one : ranks)
        files += static_cast<double>(std::max(one.summaries.size(), one.steps.size()));
    for (const ProbeRank& one : ranks) {
        ForeignProcess& process = run.process(one.rank, run.attemptsOf(one.rank));
        process.framework = "grad_probe";
        ProbeSummaries summaries(process, run);
        std::set<std::int64_t> steps; // signs without a summary are signs, too
        for (const auto* found : { &one.summaries, &one.steps }) {
            for (const auto& [step, file] : *found)
                steps.insert(step);
        }
        for (const std::int64_t step : steps) {
            if (auto on = goOn(progress, done++ / files); !on)
                return on;
            std::vector<std::string> names;
            if (const auto file = one.summaries.find(step); file != one.summaries.end()) {
                names = summaries.read(file->second, step);
                if (const std::int64_t changed = changedNs(file->second); changed > 0)
                    run.createdNs = run.createdNs == 0 ? changed : std::min(run.createdNs, changed);
            }
            const auto folder = one.steps.find(step);
            auto signs = folder == one.steps.end() ? std::map<std::string, fs::path>() : signFilesIn(folder->second);
            for (const std::string& name : names) {
                if (const auto file = signs.extract(name))
                    readSigns(file.mapped(), name, step, process, run);
            }
            for (const auto& [name, file] : signs)
                readSigns(file, name, step, process, run);
        }
    }
    return {};
}

}
