// SPDX-License-Identifier: GPL-3.0-or-later
// Holds what a data directory has against what the oracles of its drivers say:
//   chaosjudge DATA_DIR [--kept-before NS] ORACLE...
// Every acknowledged sample is stored with its bits, once, in one run; nothing is stored that was not issued; what a
// driver that ended by itself produced is stored or counted as dropped, there and in the capsule. --kept-before: every
// step issued before that moment of the monotonic clock is stored, acknowledged or not.
// One JSON object on standard output; exit 1 when a promise is broken, 2 when the judge cannot judge.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/store/archive.h>
#include <telltale/store/runreader.h>

#include "samples.h"

using namespace telltale;
using namespace telltale::chaos;

namespace {

constexpr std::size_t kMaxProblems = 12;

/// The life of one driver.
struct Testimony {
    std::map<std::int64_t, std::int64_t> issued; ///< step and when
    std::set<std::int64_t> refused; ///< by the ring
    std::uint64_t acked = 0, dropped = 0; ///< samples, by the agent's last counters
    /// Samples of the oldest steps that must be stored. While nothing but whole steps at the ring was dropped, they are
    /// acknowledged in the order in which they were taken.
    std::uint64_t ackedInOrder = 0;
    bool hasClosed = false;
    std::uint64_t produced = 0, scalarsProduced = 0, scalarsDropped = 0, reconnects = 0;
};

struct Stored {
    std::map<std::int64_t, std::uint64_t> samples; ///< of each step
    std::set<std::int64_t> scalars;
    std::uint64_t dropRecords = 0; ///< samples that the capsule says were dropped
};

class Judge {
public:
    void hear(const std::string& path);
    void read(const std::string& dataDir);
    void judge(std::int64_t keptBefore);
    nlohmann::json verdict() const { return m_verdict; }

private:
    void accuse(const std::string& what);
    void readSeries(store::RunReader& reader, const store::Catalog& catalog, const store::SeriesInfo& series);
    void take(const store::SeriesInfo& series, std::uint32_t tensor, Stat stat, const series::RawValue& value);
    void judgeOne(const Testimony& heard, std::int64_t keptBefore);

    std::vector<Testimony> m_heard;
    Stored m_stored;
    std::set<std::tuple<std::int64_t, std::uint32_t, Stat>> m_seen;
    std::uint64_t m_problems = 0;
    std::int64_t m_lostWindowNs = 0;
    std::uint64_t m_lostSteps = 0;
    nlohmann::json m_verdict { { "problems", nlohmann::json::array() } };
};

void Judge::accuse(const std::string& what)
{
    if (++m_problems <= kMaxProblems)
        m_verdict["problems"].push_back(what);
}

void Judge::hear(const std::string& path)
{
    Testimony heard;
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read the oracle " + path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string word;
        std::int64_t step = 0, at = 0;
        words >> word;
        if (word == "i" && words >> step >> at) {
            heard.issued[step] = at;
        } else if (word == "d" && words >> step) {
            heard.refused.insert(step);
        } else if (word == "a" && words >> heard.acked >> heard.dropped) {
            if (heard.dropped == heard.refused.size() * kSamplesPerStep)
                heard.ackedInOrder = heard.acked;
        } else if (word == "c") {
            std::uint64_t inFlight = 0;
            heard.hasClosed = static_cast<bool>(words >> heard.produced >> heard.acked >> heard.dropped >> inFlight
                >> heard.scalarsProduced >> heard.scalarsDropped >> heard.reconnects);
        }
    }
    m_heard.push_back(std::move(heard));
}

void Judge::read(const std::string& dataDir)
{
    const auto runs = store::listRuns(dataDir);
    if (runs.size() != 1)
        accuse(std::to_string(runs.size()) + " runs where there should be one");
    for (const auto& run : runs) {
        const auto report = store::verifyRun(run.locator);
        if (!report)
            accuse(report.error().sentence());
        else
            for (const std::string& problem : report->problems)
                accuse(problem);
        store::RunHandle handle;
        handle.locator = run.locator;
        const auto reader = store::openReader(handle);
        const auto catalog = reader ? (*reader)->catalog() : tl::unexpected<Error>(reader.error());
        if (!catalog) {
            accuse(catalog.error().sentence());
            continue;
        }
        for (const std::string& damage : (*catalog)->damage)
            accuse(damage);
        const auto drops = store::readWholeLog(**reader, { "drop", {}, {} });
        if (!drops)
            accuse(drops.error().sentence());
        for (std::size_t i = 0; drops && i < drops->size(); ++i)
            m_stored.dropRecords += (*drops)[i].dropClass == 1 ? 0 : (*drops)[i].items;
        for (const auto& series : (*catalog)->series)
            readSeries(**reader, **catalog, series);
    }
}

void Judge::readSeries(store::RunReader& reader, const store::Catalog& catalog, const store::SeriesInfo& series)
{
    std::uint32_t tensor = kTensors;
    if (series.kind == Kind::GradReduced)
        for (tensor = 0; tensor < kTensors && series.desc->name != tensorName(tensor);)
            ++tensor;
    const bool isKnown = series.kind == Kind::Scalar ? series.desc->name == "loss" : tensor < kTensors;
    if (!isKnown)
        return series.desc->name.starts_with("telltale.") ? void()
                                                          : accuse("a series that nobody issued: " + series.desc->name);
    for (const auto& group : catalog.groups) {
        if (group.id != series.group)
            continue;
        for (const Stat stat : group.stats) {
            const auto done = reader.raw({ series.id }, stat, catalog.steps, [&](const series::RawValue& value) {
                if (value.state != series::CellState::NotCollected)
                    take(series, tensor, stat, value);
                return true;
            });
            if (!done)
                accuse(done.error().sentence());
        }
    }
}

void Judge::take(const store::SeriesInfo& series, std::uint32_t tensor, Stat stat, const series::RawValue& value)
{
    const std::int64_t step = value.step.value;
    const std::string what = series.desc->name + "/" + std::string(statName(stat)) + "@" + std::to_string(step);
    const bool isIssued = std::any_of(m_heard.begin(), m_heard.end(),
        [step](const Testimony& heard) { return heard.issued.contains(step) && !heard.refused.contains(step); });
    if (!isIssued)
        return accuse(what + " was never issued");
    if (!m_seen.insert({ step, tensor, stat }).second)
        return accuse(what + " is stored twice");
    double expected = 0;
    switch (stat) {
    case Stat::Norm:
        expected = static_cast<double>(magnitude(step, tensor, 0));
        break;
    case Stat::Mean:
        expected = static_cast<double>(magnitude(step, tensor, 1));
        break;
    case Stat::Min:
        expected = -static_cast<double>(magnitude(step, tensor, 2));
        break;
    case Stat::Max:
        expected = static_cast<double>(magnitude(step, tensor, 3));
        break;
    case Stat::Zeros:
        expected = static_cast<double>(share(step, tensor, 4));
        break;
    case Stat::Nans:
        expected = static_cast<double>(nanCount(step, tensor));
        break;
    case Stat::Value:
        expected = scalar(step);
        break;
    default:
        break; // the counts of infinities are zero
    }
    if (std::bit_cast<std::uint64_t>(value.value) != std::bit_cast<std::uint64_t>(expected))
        accuse(what + " is " + std::to_string(value.value) + " and not " + std::to_string(expected));
    if (stat == Stat::Value)
        m_stored.scalars.insert(step);
    else if (stat != Stat::PosInfs && stat != Stat::NegInfs)
        ++m_stored.samples[step];
}

void Judge::judgeOne(const Testimony& heard, std::int64_t keptBefore)
{
    std::uint64_t stored = 0, storedScalars = 0, inOrder = 0;
    std::uint64_t missingAcked = 0, missingKept = 0;
    std::int64_t firstMissing = -1;
    std::int64_t firstLostAt = std::numeric_limits<std::int64_t>::max(), lastAt = 0;
    for (const auto& [step, at] : heard.issued) {
        const auto it = m_stored.samples.find(step);
        const std::uint64_t samples = it == m_stored.samples.end() ? 0 : it->second;
        stored += samples;
        storedScalars += m_stored.scalars.contains(step) ? 1u : 0u;
        lastAt = std::max(lastAt, at);
        if (heard.refused.contains(step))
            continue;
        inOrder += kSamplesPerStep;
        const bool isWhole = samples == kSamplesPerStep;
        if (!isWhole && inOrder <= heard.ackedInOrder) {
            missingAcked += kSamplesPerStep - samples;
            firstMissing = firstMissing < 0 ? step : firstMissing;
        }
        if (!isWhole) {
            ++m_lostSteps;
            firstLostAt = std::min(firstLostAt, at);
        }
        if (!isWhole && at < keptBefore)
            ++missingKept;
    }
    if (missingAcked > 0)
        accuse(std::to_string(missingAcked) + " acknowledged samples are not stored, the first of step "
            + std::to_string(firstMissing));
    if (missingKept > 0)
        accuse(std::to_string(missingKept) + " steps that were to be kept are not stored");
    if (stored < heard.acked)
        accuse(
            std::to_string(heard.acked) + " samples were acknowledged and " + std::to_string(stored) + " are stored");
    if (heard.hasClosed) {
        if (heard.produced != heard.issued.size() * kSamplesPerStep)
            accuse("the agent counts " + std::to_string(heard.produced) + " samples produced; "
                + std::to_string(heard.issued.size() * kSamplesPerStep) + " were issued");
        if (heard.produced != stored + heard.dropped)
            accuse("produced " + std::to_string(heard.produced) + " is not stored " + std::to_string(stored)
                + " + dropped " + std::to_string(heard.dropped));
        if (heard.scalarsProduced != storedScalars + heard.scalarsDropped)
            accuse("scalars: produced " + std::to_string(heard.scalarsProduced) + " is not stored "
                + std::to_string(storedScalars) + " + dropped " + std::to_string(heard.scalarsDropped));
    } else if (firstLostAt < lastAt) {
        m_lostWindowNs = std::max(m_lostWindowNs, lastAt - firstLostAt);
    }
}

void Judge::judge(std::int64_t keptBefore)
{
    std::uint64_t issued = 0, acked = 0, dropped = 0, stored = 0, reconnects = 0;
    bool haveAllClosed = true;
    for (const Testimony& heard : m_heard) {
        judgeOne(heard, keptBefore);
        issued += heard.issued.size() * kSamplesPerStep;
        acked += heard.acked;
        dropped += heard.dropped;
        reconnects += heard.reconnects;
        haveAllClosed = haveAllClosed && heard.hasClosed;
    }
    for (const auto& [step, samples] : m_stored.samples)
        stored += samples;
    if (haveAllClosed && m_stored.dropRecords != dropped)
        accuse("the capsule tells of " + std::to_string(m_stored.dropRecords) + " dropped samples, the agent of "
            + std::to_string(dropped));
    if (m_problems > kMaxProblems)
        m_verdict["problems"].push_back("and " + std::to_string(m_problems - kMaxProblems) + " more");
    m_verdict["issued"] = issued;
    m_verdict["acked"] = acked;
    m_verdict["stored"] = stored;
    m_verdict["dropped"] = dropped;
    m_verdict["reconnects"] = reconnects;
    m_verdict["lost_steps"] = m_lostSteps;
    m_verdict["lost_ms"] = static_cast<double>(m_lostWindowNs) / 1e6;
}

}

int main(int argc, char** argv)
{
    try {
        Judge judge;
        std::string dataDir;
        std::int64_t keptBefore = std::numeric_limits<std::int64_t>::min();
        for (int i = 1; i < argc; ++i) {
            const std::string word = argv[i];
            if (word == "--kept-before" && i + 1 < argc)
                keptBefore = std::strtoll(argv[++i], nullptr, 10);
            else if (dataDir.empty())
                dataDir = word;
            else
                judge.hear(word);
        }
        judge.read(dataDir);
        judge.judge(keptBefore);
        const nlohmann::json verdict = judge.verdict();
        std::cout << verdict.dump() << "\n";
        return verdict["problems"].empty() ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << "chaosjudge: " << error.what() << "\n";
        return 2;
    }
}
