// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "capsulebuilder.h"

namespace telltale::test {

/// What a run of a made-up archive has. Thread: any (a value).
struct ArchivedRun {
    std::string id; ///< also the end of its file's name
    std::string name = "a run";
    std::string hyperparameters = "{}";
    std::vector<std::string> tags;
    std::string notes;
    std::int64_t createdNs = 1'700'000'000'000'000'000;
    std::int64_t steps = 20;
    /// Records of the server in its log.
    std::vector<Event> log;
};

inline std::string runPath(const std::string& dataDir, const std::string& id)
{
    return dataDir + "/runs/2026-11-24_run_" + id + ".telltale";
}

/// A file of the data directory, finished: one rank, a tensor with three statistics and a loss. NaN at step 7.
inline std::string archiveRun(const std::string& dataDir, const ArchivedRun& run)
{
    std::filesystem::create_directories(dataDir + "/runs");
    std::string path = runPath(dataDir, run.id);
    CapsuleBuilder builder(path, run.name, run.id, run.createdNs);
    const auto stream = builder.addAttempt(Rank { 0 }, 0);
    const auto weights = builder.addLayout(
        Kind::ParamOrigin, { Stat::Norm, Stat::Max, Stat::Nans }, { "layers.0.fc.weight", "layers.1.fc.weight" });
    const auto scalars = builder.addLayout(Kind::Scalar, { Stat::Value }, { "loss" });
    const auto event = [](const char* kind, const std::string& json) {
        Event made;
        made.kind = kind;
        made.json = json;
        return made;
    };
    std::string tags;
    for (const std::string& tag : run.tags)
        tags += (tags.empty() ? "\"" : ", \"") + tag + '"';
    for (std::int64_t step = 0; step < run.steps; ++step) {
        StepBlock block;
        block.layout = weights;
        block.step = Step { step };
        const auto value = static_cast<float>(step);
        block.columns = { { Stat::Norm, std::vector<float> { value, value / 3 } },
            { Stat::Max, std::vector<float> { -value, 1 } },
            { Stat::Nans, std::vector<std::uint64_t> { step == 7 ? 2u : 0u, 0u } } };
        StepBlock scalar;
        scalar.layout = scalars;
        scalar.step = Step { step };
        scalar.columns = { { Stat::Value, std::vector<double> { 1.0 / static_cast<double>(step + 1) } } };
        std::vector<Event> events;
        std::vector<Blob> blobs;
        if (step == 0) {
            events
                = { event("tags", "{\"tags\": [" + tags + "]}"), event("notes", "{\"notes\": \"" + run.notes + "\"}") };
            Blob blob;
            blob.id = "hyperparameters-0";
            blob.kind = "hyperparameters";
            blob.bytes = run.hyperparameters;
            blobs = { blob };
        }
        builder.stage(stream, { block, scalar }, {}, std::move(events), std::move(blobs));
    }
    for (const Event& record : run.log) {
        store::OwnRecord own;
        own.event = record;
        builder.writer().stageRecord(std::move(own));
    }
    builder.commit();
    CapsuleBuilder::must(builder.writer().leave(stream, store::SourceState::Finished, 0, {}));
    builder.finish();
    return path;
}

}
