// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

#include <telltale/core/samplebatch.h>
#include <telltale/exchange/foreignrun.h>
#include <telltale/store/storeservice.h>

namespace telltale::ingest {

// What an import says of a foreign process as its agent would. Thread: any (pure).

/// "import-0123456789abcdef": the key of a run that is new.
std::string newImportKey();
store::StreamRequest requestFor(
    const exchange::ForeignProcess& process, int attempt, const std::string& runKey, const std::string& runName);
/// Takes the process's documents into the batch, numbered on from `number`, until there are that many bytes; whether
/// some are left. What a run cannot hold is left out.
bool takeDocuments(exchange::ForeignProcess& process, exchange::ForeignRun& run, std::size_t& number,
    std::size_t mostBytes, SampleBatch& batch);
void takeEventsOf(exchange::ForeignProcess& process, exchange::ForeignRun& run, SampleBatch& batch);

}
