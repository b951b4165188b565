// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <telltale/core/samplebatch.h>
#include <telltale/exchange/foreignrun.h>
#include <telltale/store/storeservice.h>

namespace telltale::ingest {

// What an import says of a foreign process as its agent would. Thread: any (pure).

/// "import-0123456789abcdef": the run key of what lies there. The same files, wherever they lie, have the same: by
/// names, sizes, times and how they begin and end. An import that was broken off or is given twice finds what it took.
std::string importKey(std::span<const std::filesystem::path> paths);
/// That of event files which grow: by where they lie, and the first of them.
std::string followKey(std::span<const std::filesystem::path> paths, std::string_view firstFile);
/// A key that nothing else has: for what is imported again on purpose.
std::string newImportKey();
/// What the agent of a rank's attempt is called: as files number it, whatever number the run gave it.
std::string importAgent(Rank rank, int attempt);
/// Asks for any process of the run with the key.
store::StreamRequest requestForRun(const std::string& runKey);
store::StreamRequest requestFor(
    const exchange::ForeignProcess& process, int attempt, const std::string& runKey, const std::string& runName);
/// Takes the process's documents into the batch, numbered on from `number`, until there are that many bytes; whether
/// some are left. What a run cannot hold is left out.
bool takeDocuments(exchange::ForeignProcess& process, exchange::ForeignRun& run, std::size_t& number,
    std::size_t mostBytes, SampleBatch& batch);
void takeEventsOf(exchange::ForeignProcess& process, exchange::ForeignRun& run, SampleBatch& batch);

}
