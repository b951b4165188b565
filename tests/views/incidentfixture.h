// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/judge/incident.h>
#include <telltale/store/logrecord.h>

namespace telltale::test {

inline judge::Incident incidentAt(std::int64_t step, store::Severity severity = store::Severity::Critical,
    const char* name = "layers.7.attn.qkv", int rank = 1)
{
    judge::Incident incident;
    incident.first = { severity == store::Severity::Critical ? "nonfinite" : "history", severity, Step { step },
        Rank { rank }, Kind::Actv, name, "output", Stat::Norm, "is +Inf in 3 of 64 elements" };
    incident.opened = incident.lastStep = Step { step };
    incident.sentence = "First abnormal: step " + std::to_string(step) + ", rank " + std::to_string(rank) + ", " + name
        + ", forward. Its inputs and weights were finite.";
    return incident;
}

/// With all that a card can say.
inline judge::Incident richIncident(std::int64_t step)
{
    judge::Incident incident = incidentAt(step);
    incident.evidence = {
        { "history", store::Severity::Warning, Step { step - 48 }, Rank { 1 }, Kind::Actv, "layers.7.attn.qkv",
            "output", Stat::Norm,
            "norm left its own history at step " + std::to_string(step - 48) + ", 48 steps earlier" },
        { "ranks", store::Severity::Notice, Step { step }, Rank { -1 }, Kind::Actv, "layers.7.attn.qkv", "output",
            Stat::Norm, "only rank 1 of 2 was abnormal at this step" },
        { "checksum", store::Severity::Notice, Step { step }, Rank { -1 }, Kind::ParamOrigin, "layers.7.attn.qkv", "",
            Stat::Checksum, "weight checksums equal on 2 of 2 ranks" },
    };
    incident.ties = { "layers.7.attn.proj:output" };
    for (int block = 7; block < 12; ++block)
        incident.reach.push_back(
            { "layers." + std::to_string(block), Rank { 1 }, { Step { step + block - 7 }, Step { step + 39 } }, 40 });
    incident.reach.push_back({ "head", Rank { 1 }, { Step { step + 6 }, Step { step + 39 } }, 14 });
    incident.folded = 214;
    incident.lastStep = Step { step + 39 };
    return incident;
}

/// As the store reads it back.
inline store::LogRecord recordOf(const Event& event, std::int64_t id)
{
    store::LogRecord record;
    record.kind = event.kind;
    record.id = id;
    record.ref = static_cast<std::int64_t>(event.ref);
    record.rank = Rank { -1 };
    record.steps = { event.step, event.lastStep.value_or(event.step) };
    record.text = event.text;
    record.json = event.json;
    record.cause = event.cause;
    record.graveness = event.severity;
    return record;
}

}
