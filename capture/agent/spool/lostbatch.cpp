// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/lostbatch.h>

#include <chrono>

#include <fmt/format.h>

#include <telltale/core/drops.h>
#include <telltale/protocol/payloadbuilder.h>

namespace telltale::agent {
namespace {

std::int64_t wallNs()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}

std::string lostBatchPayload(const LostBatch& lost)
{
    protocol::PayloadBuilder builder;
    const std::string amount = lost.isExact ? fmt::format("{} samples", lost.samples + lost.scalars)
                                            : fmt::format("at least {} samples", lost.samples + lost.scalars);
    Event event;
    event.kind = "gap";
    event.step = lost.steps.isEmpty() ? Step { 0 } : lost.steps.first;
    event.wallNs = wallNs();
    event.text = fmt::format("{} are lost: {}", amount, lost.why);
    builder.addEvent(event);
    const std::string reason
        = std::string("the spool cannot be read") + (lost.isExact ? "" : std::string(": ") + kAtLeastSoMany);
    const auto addDrop = [&](std::uint32_t dropClass, std::uint64_t items) {
        const Step last = lost.steps.isEmpty() ? event.step : lost.steps.last;
        if (items > 0)
            builder.addDrop({ dropClass, event.step, last, items, 0, reason });
    };
    addDrop(2, lost.samples);
    addDrop(1, lost.scalars);
    builder.setStepComplete(true);
    return builder.finish();
}

std::string lostBesidePayload()
{
    protocol::PayloadBuilder builder;
    builder.setStepComplete(true);
    return builder.finish();
}

}
