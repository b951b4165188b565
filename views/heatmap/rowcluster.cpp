// SPDX-License-Identifier: GPL-3.0-or-later
#include "rowcluster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace telltale::views {

namespace {

constexpr int kPowerRounds = 24;

struct Cluster {
    std::vector<float> center;
    std::vector<std::size_t> leaves;
    bool alive = true;
};

double squaredDistance(const std::vector<float>& a, const std::vector<float>& b)
{
    float sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return static_cast<double>(sum);
}

/// What joining two clusters adds to the squared distances within clusters.
double wardDistance(const Cluster& a, const Cluster& b)
{
    const auto m = static_cast<double>(a.leaves.size());
    const auto n = static_cast<double>(b.leaves.size());
    return m * n / (m + n) * squaredDistance(a.center, b.center);
}

/// Joins `b` into `a`, whichever way round brings the alike ends together being left to the first leaves' order, so
/// that the same rows always come out the same.
void join(Cluster& a, Cluster& b)
{
    const auto m = static_cast<float>(a.leaves.size());
    const auto n = static_cast<float>(b.leaves.size());
    for (std::size_t i = 0; i < a.center.size(); ++i)
        a.center[i] = (a.center[i] * m + b.center[i] * n) / (m + n);
    const std::size_t firstOfA = *std::min_element(a.leaves.begin(), a.leaves.end());
    const std::size_t firstOfB = *std::min_element(b.leaves.begin(), b.leaves.end());
    if (firstOfB < firstOfA)
        std::swap(a.leaves, b.leaves);
    a.leaves.insert(a.leaves.end(), b.leaves.begin(), b.leaves.end());
    b.alive = false;
    b.leaves.clear();
}

std::vector<std::size_t> alongPrincipalComponent(
    const std::vector<float>& features, std::size_t rows, std::size_t dimensions)
{
    std::vector<double> mean(dimensions);
    for (std::size_t i = 0; i < features.size(); ++i)
        mean[i % dimensions] += static_cast<double>(features[i]) / static_cast<double>(rows);
    std::vector<double> axis(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d)
        axis[d] = 1 + static_cast<double>(d) / static_cast<double>(dimensions);
    std::vector<double> along(rows);
    for (int round = 0; round < kPowerRounds; ++round) {
        std::vector<double> next(dimensions);
        for (std::size_t row = 0; row < rows; ++row) {
            along[row] = 0;
            for (std::size_t d = 0; d < dimensions; ++d)
                along[row] += (static_cast<double>(features[row * dimensions + d]) - mean[d]) * axis[d];
            for (std::size_t d = 0; d < dimensions; ++d)
                next[d] += along[row] * (static_cast<double>(features[row * dimensions + d]) - mean[d]);
        }
        const double length = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
        if (!(length > 0))
            break;
        for (std::size_t d = 0; d < dimensions; ++d)
            axis[d] = next[d] / length;
    }
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t { 0 });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return along[a] < along[b]; });
    return order;
}

}

std::vector<std::size_t> clusteredOrder(const std::vector<float>& features, std::size_t dimensions)
{
    const std::size_t rows = dimensions == 0 ? 0 : features.size() / dimensions;
    if (rows == 0)
        return {};
    if (rows > kMostClustered)
        return alongPrincipalComponent(features, rows, dimensions);
    std::vector<Cluster> clusters(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const auto begin = features.begin() + static_cast<std::ptrdiff_t>(row * dimensions);
        clusters[row].center.assign(begin, begin + static_cast<std::ptrdiff_t>(dimensions));
        clusters[row].leaves = { row };
    }
    // Ward's distance only grows by joins, so two clusters that are each other's nearest may be joined at once.
    std::vector<std::size_t> chain;
    for (std::size_t left = rows; left > 1;) {
        if (chain.empty()) {
            const auto alive
                = std::find_if(clusters.begin(), clusters.end(), [](const Cluster& cluster) { return cluster.alive; });
            chain.push_back(static_cast<std::size_t>(alive - clusters.begin()));
        }
        const std::size_t top = chain.back();
        std::size_t nearest = chain.size() > 1 ? chain[chain.size() - 2] : top;
        double best = chain.size() > 1 ? wardDistance(clusters[top], clusters[nearest])
                                       : std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < rows; ++i) {
            if (i == top || !clusters[i].alive)
                continue;
            const double distance = wardDistance(clusters[top], clusters[i]);
            if (distance < best) {
                best = distance;
                nearest = i;
            }
        }
        if (chain.size() > 1 && nearest == chain[chain.size() - 2]) {
            chain.resize(chain.size() - 2);
            join(clusters[nearest], clusters[top]);
            --left;
        } else {
            chain.push_back(nearest);
        }
    }
    for (Cluster& cluster : clusters) {
        if (cluster.alive)
            return std::move(cluster.leaves);
    }
    return {};
}

}
