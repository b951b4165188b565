// SPDX-License-Identifier: GPL-3.0-or-later
#include "rankcurves.h"

#include <algorithm>

namespace telltale::views {

namespace {

constexpr std::size_t kMostLines = 8; ///< ranks of one series beyond which lines hide each other
constexpr std::size_t kMostTogether = 60; ///< lines of a plot
constexpr std::size_t kMostApart = 6; ///< colors that are told apart at a glance

std::vector<Row> otherRows(const CurveSeries& of, const CurveRequest& request)
{
    RowWish wish;
    wish.kind = of.row.kind;
    wish.only = { of.row.key };
    if (isDerivedStat(of.stat)) // of a tensor's rows the one that has it
        wish.stat = of.stat;
    std::vector<Row> rows = buildRows(*request.catalog, wish);
    std::erase_if(rows, [&](const Row& row) {
        const bool wanted = !request.ranks
            || std::find(request.ranks->begin(), request.ranks->end(), row.rank) != request.ranks->end();
        return row.rank == of.row.rank || row.tensor != of.row.tensor || !wanted;
    });
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.rank < b.rank; });
    return rows;
}

}

void widen(std::vector<series::Bucket>& into, const std::vector<series::Bucket>& other)
{
    for (std::size_t i = 0; i < std::min(into.size(), other.size()); ++i) {
        series::Bucket& bucket = into[i];
        const series::Bucket& more = other[i];
        if (more.finite > 0 && bucket.finite == 0) {
            bucket.min = more.min;
            bucket.max = more.max;
            bucket.mean = more.mean;
            bucket.first = more.first;
            bucket.last = more.last;
        } else if (more.finite > 0) {
            const double all = static_cast<double>(bucket.finite) + static_cast<double>(more.finite);
            bucket.mean += (more.mean - bucket.mean) * static_cast<double>(more.finite) / all;
            bucket.min = std::min(bucket.min, more.min);
            bucket.max = std::max(bucket.max, more.max);
            bucket.last = more.last;
        }
        bucket.finite += more.finite;
        bucket.samples += more.samples;
        bucket.nans += more.nans;
        bucket.posInfs += more.posInfs;
        bucket.negInfs += more.negInfs;
        bucket.state = std::max(bucket.state, more.state);
    }
}

Expected<CurvePicture> withOtherRanks(
    store::RunReader& reader, CurvePicture picture, const CurveRequest& request, const series::CancelToken& cancel)
{
    std::vector<CurveSeries> selected = std::move(picture.series);
    picture.series.clear();
    const std::size_t count = selected.size();
    for (CurveSeries& one : selected) {
        std::vector<Row> rows = otherRows(one, request);
        const bool asBand = rows.size() + 1 > kMostLines || (rows.size() + 1) * count > kMostTogether;
        const Stat stat = one.stat;
        const int slot = one.slot;
        const bool areApart
            = request.areRanksApart && count == 1 && one.row.kind != Kind::Scalar && rows.size() + 1 <= kMostApart;
        int apart = 0;
        picture.series.push_back(std::move(one));
        CurveSeries band;
        for (Row& row : rows) {
            const Rank rank = row.rank;
            auto other = readCurve(reader, std::move(row), stat, request, cancel);
            if (!other)
                return tl::unexpected(std::move(other).error());
            other->slot = areApart ? slot + ++apart : slot;
            other->isOtherRank = true;
            if (!asBand) {
                picture.series.push_back(std::move(*other));
                continue;
            }
            if (band.ranks.empty())
                band = std::move(*other);
            else
                widen(band.result.buckets, other->result.buckets);
            band.isGroup = true;
            band.join = 0;
            band.ranks.push_back(rank);
        }
        if (band.isGroup)
            picture.series.push_back(std::move(band));
    }
    return picture;
}

}
