// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include <telltale/store/archive.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/runreader.h>

#include "damagedcapsule.h"

using namespace telltale;
using namespace telltale::store;

namespace {

void require(bool holds)
{
    if (!holds)
        std::abort();
}

template <typename T> bool isGood(const Expected<T>& result)
{
    require(result.has_value() || !result.error().what.empty());
    return result.has_value();
}

/// Where the damaged run lies: in memory where the system has a folder for that. Gone with the program.
class RunFile {
public:
    RunFile()
    {
        const bool hasMemory = std::filesystem::is_directory("/dev/shm");
        m_folder = (hasMemory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path())
            / ("telltale-fuzz-" + std::to_string(getpid()));
        std::filesystem::create_directories(m_folder);
    }
    ~RunFile()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_folder, ignored);
    }
    std::string path() const { return (m_folder / "run.telltale").string(); }
    void write(const std::string& bytes) const
    {
        std::ofstream out(path(), std::ios::binary | std::ios::trunc);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        out.close();
        require(out.good());
    }

private:
    std::filesystem::path m_folder;
};

/// What the window and the command line ask of one series, at steps wherever the run's may lie.
void askSeries(RunReader& reader, const SeriesInfo& series, Stat stat, StepRange steps)
{
    const series::RowAttempts row { series.id };
    constexpr int kPixels = 7;
    const auto curve = reader.curve({ row, stat, steps, kPixels });
    if (isGood(curve))
        require(curve->buckets.size() == static_cast<std::size_t>(kPixels));
    int left = 300;
    isGood(reader.raw(row, stat, steps, [&left](const series::RawValue&) { return --left > 0; }));
    const auto cells = reader.column(steps.last, stat, { &row, 1 }, true);
    if (isGood(cells))
        require(cells->size() == 1);
}

/// One statistic of each group, another one for each `turn`: asking for all would take the time of ten inputs.
void askAll(RunReader& reader, const Catalog& catalog, std::size_t turn)
{
    constexpr std::size_t kRows = 12;
    for (const std::string& sentence : catalog.damage)
        require(!sentence.empty());
    std::vector<series::RowAttempts> rows;
    for (std::size_t i = 0; i < catalog.series.size() && i < kRows; ++i)
        rows.push_back({ catalog.series[i].id });
    for (const GroupInfo& group : catalog.groups) {
        const auto first = std::find_if(catalog.series.begin(), catalog.series.end(),
            [&group](const SeriesInfo& series) { return series.group == group.id; });
        if (first != catalog.series.end() && !catalog.steps.isEmpty() && !group.stats.empty())
            askSeries(reader, *first, group.stats[turn % group.stats.size()], catalog.steps);
    }
    for (const Stat stat : { Stat::Norm, Stat::AbsMax, Stat::Value }) {
        if (catalog.steps.isEmpty() || rows.empty())
            break;
        const auto heat = reader.heatmap({ rows, stat, catalog.steps, 20 });
        if (isGood(heat)) {
            const auto cells = static_cast<std::size_t>(heat->rows) * static_cast<std::size_t>(heat->columns);
            require(heat->values.size() == cells && heat->states.size() == cells);
        }
    }
    isGood(reader.blob("stack", "", catalog.steps.last));
    isGood(reader.blob("structure", "", catalog.steps.last));
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::array runs { fuzz::DamagedCapsule(TELLTALE_RUNS "/cpp-finished/run.telltale"),
        fuzz::DamagedCapsule(TELLTALE_RUNS "/cpp-killed/run.telltale") };
    static const RunFile file;
    if (size == 0)
        return 0;
    const std::string_view program(reinterpret_cast<const char*>(data), size);
    file.write(runs[data[0] % runs.size()].damaged(program.substr(1)));
    const auto verified = verifyRun(RunLocator::ofFile(file.path()));
    if (isGood(verified)) {
        for (const std::string& problem : verified->problems)
            require(!problem.empty());
    }
    describeRun(RunLocator::ofFile(file.path()));
    isGood(readRunFacts(RunLocator::ofFile(file.path())));
    const auto reader = openReader({ RunLocator::ofFile(file.path()), "", "", nullptr });
    if (!isGood(reader))
        return 0;
    const auto catalog = (*reader)->catalog();
    if (isGood(catalog))
        askAll(**reader, **catalog, size);
    isGood((*reader)->log({}));
    isGood((*reader)->catalog()); // with the damage that was met
    return 0;
}
