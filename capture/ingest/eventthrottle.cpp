// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/eventthrottle.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace telltale::ingest {
namespace {

constexpr std::uint32_t kDropClass = 0; ///< events
constexpr double kNsPerSecond = 1e9;

/// Adds to the drop of the same reason in this batch.
void count(SampleBatch& batch, std::size_t ownDrops, const Event& event, const std::string& reason)
{
    const auto from = batch.drops.begin() + static_cast<std::ptrdiff_t>(ownDrops);
    auto drop = std::find_if(from, batch.drops.end(), [&](const Drop& known) { return known.reason == reason; });
    if (drop == batch.drops.end())
        drop = batch.drops.insert(drop, Drop { kDropClass, event.step, event.step, 0, 0, reason });
    drop->firstStep = std::min(drop->firstStep, event.step);
    drop->lastStep = std::max(drop->lastStep, event.step);
    ++drop->items;
    drop->bytes += event.kind.size() + event.text.size() + event.json.size();
}

}

EventThrottle::Kind& EventThrottle::find(const std::string& kind)
{
    const bool isKnown = m_kinds.contains(kind);
    return m_kinds[isKnown || m_kinds.size() < kMaxKinds ? kind : std::string()];
}

bool EventThrottle::mayPass(Kind& kind, const Event& event)
{
    if (event.wallNs != 0) {
        // A clock that was set back gives nothing, and takes nothing.
        const double seconds = (static_cast<double>(event.wallNs) - static_cast<double>(kind.at)) / kNsPerSecond;
        if (kind.at != 0 && seconds > 0)
            kind.left = std::min(kBurst, kind.left + seconds * kPerSecond);
        kind.at = event.wallNs;
    }
    if (kind.left < 1 || kind.passed >= kMost)
        return false;
    kind.left -= 1;
    ++kind.passed;
    return true;
}

void EventThrottle::cut(SampleBatch& batch)
{
    const std::size_t ownDrops = batch.drops.size();
    std::vector<Event> passed;
    passed.reserve(batch.events.size());
    for (Event& event : batch.events) {
        Kind& kind = find(event.kind);
        if (mayPass(kind, event)) {
            passed.push_back(std::move(event));
            continue;
        }
        ++kind.untold;
        count(batch, ownDrops, event, "too many events of the kind \"" + event.kind + "\"");
        const bool isRecent = kind.wasTold && event.wallNs >= kind.toldAt && event.wallNs - kind.toldAt < kTellEveryNs;
        if (isRecent || !mayPass(m_told, event))
            continue;
        Event told;
        told.kind = "drop";
        told.step = event.step;
        told.wallNs = event.wallNs;
        told.text = std::to_string(kind.untold) + " more events of the kind \"" + event.kind
            + "\" were dropped: there are too many of them; raise their thresholds or switch them off";
        passed.push_back(std::move(told));
        kind.untold = 0;
        kind.toldAt = event.wallNs;
        kind.wasTold = true;
    }
    batch.events = std::move(passed);
}

}
