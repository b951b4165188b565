// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/eventthrottle.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace telltale::ingest {
namespace {

constexpr std::uint32_t kDropClass = 0; ///< events
constexpr double kNsPerSecond = 1e9;

void count(Drop& drop, const Event& event)
{
    drop.firstStep = std::min(drop.firstStep, event.step);
    drop.lastStep = std::max(drop.lastStep, event.step);
    ++drop.items;
    drop.bytes += event.bytes();
}

}

EventThrottle::Kind& EventThrottle::find(const std::string& kind)
{
    const bool isKnown = m_kinds.contains(kind);
    const bool isShared = !isKnown && m_kinds.size() >= kMaxKinds;
    Kind& found = m_kinds[isShared ? std::string() : kind];
    if (isShared || found.name.empty())
        found.name = isShared ? "of other kinds" : "of the kind \"" + kind + '"';
    return found;
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
    for (auto& [name, kind] : m_kinds)
        kind.drop.reset();
    std::vector<Event> passed;
    passed.reserve(batch.events.size());
    for (Event& event : batch.events) {
        Kind& kind = find(event.kind);
        if (mayPass(kind, event)) {
            passed.push_back(std::move(event));
            continue;
        }
        ++kind.untold;
        if (!kind.drop) {
            kind.drop = batch.drops.size();
            batch.drops.push_back({ kDropClass, event.step, event.step, 0, 0, "too many events " + kind.name });
        }
        count(batch.drops[*kind.drop], event);
        // In double: a peer may claim any time, and no difference of two may overflow.
        const bool isRecent = kind.wasTold && event.wallNs >= kind.toldAt
            && static_cast<double>(event.wallNs) - static_cast<double>(kind.toldAt) < kTellEveryNs;
        if (isRecent || !mayPass(m_ownEvents, event))
            continue;
        Event summary;
        summary.kind = "drop";
        summary.step = event.step;
        summary.wallNs = event.wallNs;
        summary.text = std::to_string(kind.untold) + " more events " + kind.name
            + " were dropped: there are too many of them; raise their thresholds or switch them off";
        passed.push_back(std::move(summary));
        kind.untold = 0;
        kind.toldAt = event.wallNs;
        kind.wasTold = true;
    }
    batch.events = std::move(passed);
}

}
