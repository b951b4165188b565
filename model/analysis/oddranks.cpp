// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/analysis/oddranks.h>

#include <algorithm>
#include <cmath>

namespace telltale::analysis {

using series::CellState;

namespace {

constexpr double kLeastDifference = 0.01;
constexpr double kOfNormal = 1.4826; ///< standard deviations to one MAD

/// The lower one of two in the middle would call the upper one of two alike odd: their mean.
double middleOf(std::vector<double>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// What the peers measured in one cell, on the scale on which they are compared.
struct Cell {
    std::vector<std::pair<std::size_t, double>> peers; ///< rank, y
    std::vector<std::size_t> notFinite;
    double median = 0;
    double spread = 0;
};

Cell cellOf(std::span<const float> values, std::span<const CellState> states, std::size_t ranks, std::size_t cells,
    std::size_t at, std::vector<double>& scratch)
{
    Cell cell;
    bool isPositive = true;
    scratch.clear();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::size_t i = rank * cells + at;
        if (series::isNonFinite(states[i]))
            cell.notFinite.push_back(rank);
        if (states[i] != CellState::Value)
            continue;
        cell.peers.emplace_back(rank, static_cast<double>(values[i]));
        isPositive = isPositive && values[i] > 0;
        scratch.push_back(std::abs(static_cast<double>(values[i])));
    }
    if (cell.peers.size() < kLeastPeers)
        return cell;
    const double unit = middleOf(scratch);
    for (auto& [rank, y] : cell.peers)
        y = isPositive ? std::log(y) : unit > 0 ? y / unit : y;
    scratch.clear();
    for (const auto& [rank, y] : cell.peers)
        scratch.push_back(y);
    cell.median = middleOf(scratch);
    for (double& y : scratch)
        y = std::abs(y - cell.median);
    cell.spread = kOfNormal * middleOf(scratch);
    return cell;
}

}

std::vector<RankOddness> oddRanks(
    std::span<const float> values, std::span<const CellState> states, std::size_t ranks, std::size_t cells)
{
    std::vector<RankOddness> all(ranks);
    std::vector<std::size_t> broken(ranks);
    std::vector<Cell> compared;
    std::vector<double> scratch;
    std::vector<double> spreads;
    compared.reserve(cells);
    for (std::size_t at = 0; at < cells; ++at) {
        compared.push_back(cellOf(values, states, ranks, cells, at, scratch));
        if (compared.back().peers.size() >= kLeastPeers)
            spreads.push_back(compared.back().spread);
    }
    const double usual = spreads.empty() ? 0 : middleOf(spreads);
    for (std::size_t at = 0; at < cells; ++at) {
        const Cell& cell = compared[at];
        // Where most are broken, nobody is odd; one that is broken where its only peer is not, is.
        if (cell.notFinite.size() * 2 <= cell.notFinite.size() + cell.peers.size()) {
            for (const std::size_t rank : cell.notFinite) {
                ++all[rank].compared;
                ++all[rank].far;
                ++broken[rank];
            }
        }
        if (cell.peers.size() < kLeastPeers)
            continue;
        const double scale = std::max({ cell.spread, usual, kLeastDifference });
        for (const auto& [rank, y] : cell.peers) {
            RankOddness& one = all[rank];
            const double distance = std::abs(y - cell.median) / scale;
            ++one.compared;
            one.far += distance > kFar ? 1 : 0;
            if (distance > one.strongest) {
                one.strongest = distance;
                one.strongestAt = at;
            }
        }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        RankOddness& one = all[rank];
        const bool isOften
            = one.far > 0 && static_cast<double>(one.far) >= kOddShare * static_cast<double>(one.compared);
        if (isOften || broken[rank] > 0)
            one.grade = RankOddness::Grade::Odd;
        else if (one.strongest > kVeryFar)
            one.grade = RankOddness::Grade::AtTimes;
    }
    return all;
}

}
