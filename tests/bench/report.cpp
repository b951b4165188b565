// SPDX-License-Identifier: GPL-3.0-or-later
#include "report.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace telltale::bench {
namespace {

double secondsOf(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> mediansOf(
    int times, const std::vector<std::function<void()>>& works, double (*clock)(const std::function<void()>&))
{
    std::vector<std::vector<double>> seconds(works.size());
    for (int i = 0; i < times; ++i) {
        for (std::size_t w = 0; w < works.size(); ++w)
            seconds[w].push_back(clock(works[w]));
    }
    std::vector<double> result;
    for (auto& s : seconds) {
        std::sort(s.begin(), s.end());
        result.push_back(s[s.size() / 2]);
    }
    return result;
}

}

void Report::add(Row row)
{
    std::cout << fmt::format("{:<44} {:>8.4g} {:<11} {:>6.3g} x, goal {:<5.4g} {}  {} ({:.4g})", row.name, row.value,
        row.unit, row.ratio(), row.goal, row.passes() ? "pass " : "SHORT", row.peer, row.peerValue)
              << std::endl;
    m_rows.push_back(std::move(row));
}

bool Report::write(const std::string& path) const
{
    auto document = nlohmann::json::array();
    for (const Row& row : m_rows) {
        document.push_back({ { "name", row.name }, { "value", row.value }, { "unit", row.unit }, { "goal", row.goal },
            { "better", row.higherIsBetter ? "higher" : "lower" }, { "peer", row.peer },
            { "peer_value", row.peerValue }, { "ratio", row.ratio() }, { "pass", row.passes() } });
    }
    std::ofstream file(path);
    file << document.dump(2) << '\n';
    return file.good();
}

double fastest(int times, const std::function<void()>& work)
{
    double best = secondsOf(work);
    for (int i = 1; i < times; ++i)
        best = std::min(best, secondsOf(work));
    return best;
}

std::vector<double> medians(int times, const std::vector<std::function<void()>>& works)
{
    return mediansOf(times, works, secondsOf);
}

std::vector<double> threadMedians(int times, const std::vector<std::function<void()>>& works)
{
    return mediansOf(times, works, threadSeconds);
}

double threadSeconds(const std::function<void()>& work)
{
    const auto now = [] {
        timespec time {};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    const double start = now();
    work();
    return now() - start;
}

std::vector<double> minima(int times, std::size_t parts, const std::vector<std::function<void(std::size_t)>>& works)
{
    std::vector<std::vector<double>> best(
        works.size(), std::vector<double>(parts, std::numeric_limits<double>::infinity()));
    for (int i = 0; i < times; ++i) {
        for (std::size_t w = 0; w < works.size(); ++w) {
            for (std::size_t part = 0; part < parts; ++part)
                best[w][part] = std::min(best[w][part], secondsOf([&] { works[w](part); }));
        }
    }
    std::vector<double> result;
    for (const auto& ofWork : best)
        result.push_back(std::accumulate(ofWork.begin(), ofWork.end(), 0.0));
    return result;
}

}
