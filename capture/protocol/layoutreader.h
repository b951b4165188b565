// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/protocol/layouttable.h>
#include <telltale/protocol/refusals.h>
#include <telltale/protocol/wiretables.h>

namespace telltale::protocol {

using LayoutPtr = std::shared_ptr<const SeriesLayout>;

/// Reads the layouts of a payload into `out` and `own`, each as it may be used; `refusals` takes what may not be, and
/// without one that is an error. For .cpp files of this folder only. Thread: any.
Expected<void> readLayouts(
    const wire::Payload& in, const LayoutTable& known, SampleBatch& out, LayoutTable& own, Refusals* refusals);

}
