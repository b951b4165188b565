// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>

namespace telltale::protocol {

/// What layouts, events and blobs may say. An agent asks where they are made, so that one bad name costs that name; the
/// server asks again where they arrive. Each error is one sentence. Thread: any (pure).
Expected<void> checkLayout(const SeriesLayout& layout);
Expected<void> checkEvent(const Event& event);
Expected<void> checkBlob(const Blob& blob);
/// Whether a stream that has `known` series may have `added` more.
Expected<void> checkSeriesCount(std::size_t known, std::size_t added);

/// Makes every name of the series a valid one. False when nothing had to change.
bool mendNames(SeriesDesc& series);

}
