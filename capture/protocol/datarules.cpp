// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/datarules.h>

#include <algorithm>
#include <string>
#include <string_view>

#include <telltale/core/histogram.h>
#include <telltale/protocol/limits.h>
#include <telltale/protocol/utf8.h>

namespace telltale::protocol {
namespace {

tl::unexpected<Error> bad(std::string what)
{
    return failure(ErrorCode::BadInput, std::move(what));
}

std::string nameOf(const SeriesLayout& layout)
{
    return "layout " + std::to_string(layout.id.value);
}

Expected<void> checkStats(const SeriesLayout& layout)
{
    for (auto stat = layout.stats.begin(); stat != layout.stats.end(); ++stat) {
        if (!isStoredStat(*stat))
            return bad(nameOf(layout) + " has a stat that this version does not know");
        if (std::find(layout.stats.begin(), stat, *stat) != stat)
            return bad(nameOf(layout) + " names a stat twice");
    }
    const bool isScalar = layout.stats == std::vector<Stat> { Stat::Value };
    if (layout.stats.empty() || isScalar != (layout.kind == Kind::Scalar))
        return bad(nameOf(layout) + " has stats that do not go with its kind");
    if (layout.edges.empty())
        return {};
    if (layout.stats != std::vector<Stat> { Stat::Hist })
        return bad(nameOf(layout) + " has the edges of histograms and other stats than hist");
    return checkEdges(layout.edges);
}

bool mend(std::string& name)
{
    if (isValidName(name))
        return false;
    name = toName(name);
    return true;
}

/// A slot that cannot be is named by its text; a position that none can have is left out.
bool mend(Slot& slot)
{
    const Slot before = slot;
    slot.position = isValidName(slot.position) ? toPosition(slot.position) : std::string();
    if (slot.role != Role::Named)
        slot.word.clear();
    if (!slot.isSound() || !isValidName(slot.text()))
        slot = Slot::named(toName(slot.text()));
    return slot != before;
}

}

Expected<void> checkHello(const Hello& hello)
{
    if (hello.runKey.empty() || hello.agentId.empty() || hello.rank < 0 || hello.worldSize < 1)
        return bad("its Hello names no run, agent or rank");
    if (!isValidName(hello.runKey) || !isValidName(hello.agentId))
        return bad("the run or agent of its Hello has a name that is too long or contains NUL");
    if (hello.firstRetainedSeq > limits::kMaxSeq)
        return bad("its Hello begins at a batch that nobody has made");
    return {};
}

Expected<void> checkLayout(const SeriesLayout& layout)
{
    if (layout.id.value == 0)
        return bad("a layout has no id");
    if (layout.series.empty())
        return bad(nameOf(layout) + " has no series");
    if (layout.kind == Kind::Unspecified || static_cast<int>(layout.kind) >= kKindCount)
        return bad(nameOf(layout) + " has a kind that this version does not know");
    if (auto ok = checkStats(layout); !ok)
        return ok;
    for (const SeriesDesc& series : layout.series) {
        if (!isValidName(series.name) || !isValidName(series.slot.text()) || !isValidName(series.definition))
            return bad("a series of " + nameOf(layout) + " has a name that is too long or contains NUL");
        if (!isValidName(series.slot.position) || !series.slot.isSound())
            return bad("a series of " + nameOf(layout) + " has a slot that cannot be, or one in no position");
    }
    return {};
}

Expected<void> checkEvent(const Event& event)
{
    if (!isStep(event.step.value))
        return bad("an event is of a step that is farther from 0 than 2^53");
    if (event.lastStep && (!isStep(event.lastStep->value) || *event.lastStep < event.step))
        return bad("an event ends before it begins, or farther from step 0 than 2^53");
    if (event.ref > limits::kMaxSeq || event.rev > limits::kMaxSeq)
        return bad("an event is of a record or a revision of the config that nobody has made");
    for (const std::string* name : { &event.kind, &event.rule, &event.phase, &event.cause, &event.author }) {
        if (!isValidName(*name))
            return bad("an event has a kind, rule, phase, cause or author that is too long or contains NUL");
    }
    return {};
}

Expected<void> checkBlob(const Blob& blob)
{
    if (blob.bytes.size() > limits::kMaxBlobPartBytes)
        return failure(ErrorCode::TooLarge, "a blob part is larger than 512 KiB");
    if (!isStep(blob.step.value))
        return bad("a blob is of a step that is farther from 0 than 2^53");
    if (!isValidName(blob.id) || !isValidName(blob.kind) || !isValidName(blob.name))
        return bad("a blob has a name that is too long or contains NUL");
    return {};
}

namespace {

Expected<void> checkRevision(std::uint64_t rev, std::int64_t step, std::string_view json, std::string_view hash)
{
    if (rev > limits::kMaxSeq || !isStep(step))
        return bad("a config has a revision that nobody has made, or a step farther from 0 than 2^53");
    if (!isValidName(hash))
        return bad("a config has a hash that is too long or contains NUL");
    if (json.size() > limits::kMaxConfigBytes)
        return failure(ErrorCode::TooLarge,
            "a config is larger than " + std::to_string(limits::kMaxConfigBytes >> 10) + " KiB",
            "name fewer targets, or larger modules");
    return {};
}

}

Expected<void> checkConfigOffer(const ConfigOffer& offer)
{
    if (offer.rev == 0 || offer.json.empty())
        return bad("an offered config has no revision, or says nothing");
    return checkRevision(offer.rev, offer.applyAtStep, offer.json, offer.hash);
}

Expected<void> checkConfigStatus(const ConfigStatus& status)
{
    if (status.reason.size() > limits::kMaxReasonBytes)
        return bad("what a rank says of a config is too long");
    return checkRevision(status.rev, status.step, status.json, status.hash);
}

Expected<void> checkSeriesCount(std::size_t known, std::size_t added)
{
    if (known + added <= limits::kMaxSeriesPerRun)
        return {};
    return failure(ErrorCode::TooLarge,
        "more than " + std::to_string(limits::kMaxSeriesPerRun) + " series in one stream",
        "collect fewer modules, kinds or metrics");
}

void mendNames(Hello& hello)
{
    for (std::string* text : { &hello.runName, &hello.keySource, &hello.host, &hello.role, &hello.framework,
             &hello.agentVersion, &hello.device, &hello.configHash })
        mend(*text);
}

void mendNames(Event& event)
{
    for (std::string* name : { &event.kind, &event.rule, &event.phase, &event.cause, &event.author })
        mend(*name);
}

void mendReason(ConfigStatus& status)
{
    status.reason = cutUtf8(toUtf8(status.reason), limits::kMaxReasonBytes);
}

bool mendNames(SeriesDesc& series)
{
    const bool name = mend(series.name);
    const bool slot = mend(series.slot);
    return mend(series.definition) || name || slot;
}

}
