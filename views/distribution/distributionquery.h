// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <telltale/store/runreader.h>

#include "distributionpicture.h"

namespace telltale::views {

/// Everything a distribution view is asked for, taken from the state on the gui thread. Thread: any (a value).
struct DistributionRequest {
    std::shared_ptr<const store::Catalog> catalog;
    Kind kind = Kind::Unspecified;
    Rank rank;
    QString filter;
    std::vector<ModuleKey> selection;
    StepRange range;
    int pixels = 0;
    int most = 1; ///< strips
    BinColor color = BinColor::LogShare;
    BelowStrips below = BelowStrips::Quantiles;
    bool isLive = false;
};

/// The kinds that have histograms, in the order of their numbers. Cost: O(groups).
std::vector<Kind> histogramKinds(const store::Catalog& catalog);
/// The ranks that have them.
std::vector<Rank> histogramRanks(const store::Catalog& catalog, Kind kind);

/// The tensors with a histogram that a selection means, those below a selected module included, or without any the
/// those that the filter lets through, the first of all without one; in order of selection. Thread: any.
std::vector<const series::RowIndex::Row*> histogramRows(const DistributionRequest& request);

/// Reads and prepares one picture. Thread: query.
Expected<DistributionPicture> readDistribution(
    store::RunReader& reader, const DistributionRequest& request, const series::CancelToken& cancel = {});

}
