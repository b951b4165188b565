// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/eventthrottle.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/core/plaintext.h>

namespace telltale::ingest {
namespace {

constexpr std::uint32_t kDropClass = 0; ///< events
constexpr double kNsPerSecond = 1e9;

/// How many events this one stands for: an agent that has too many alerts at a step says {"more": N} in place of N.
std::uint64_t countOf(const Event& event)
{
    constexpr std::uint64_t kMost = 1'000'000; // of one step; a peer may claim any number
    constexpr std::size_t kLongest = 64; // of such a document: in a storm every long one would cost its reading
    if (event.json.size() > kLongest)
        return 1;
    const auto document = nlohmann::json::parse(event.json, nullptr, false);
    const auto more = document.is_object() ? document.find("more") : document.end();
    return more != document.end() && more->is_number_unsigned() ? std::clamp<std::uint64_t>(*more, 1, kMost) : 1;
}

void count(Drop& drop, const Event& event, std::uint64_t items)
{
    drop.firstStep = std::min(drop.firstStep, event.step);
    drop.lastStep = std::max(drop.lastStep, event.step);
    drop.items += items;
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
    m_home.check();
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
        const std::uint64_t items = countOf(event);
        kind.untold += items;
        if (!kind.drop) {
            kind.drop = batch.drops.size();
            batch.drops.push_back({ kDropClass, event.step, event.step, 0, 0, "too many events " + kind.name });
        }
        count(batch.drops[*kind.drop], event, items);
        // In double: a peer may claim any time, and no difference of two may overflow.
        const bool isRecent = kind.wasTold && event.wallNs >= kind.toldAt
            && static_cast<double>(event.wallNs) - static_cast<double>(kind.toldAt) < kTellEveryNs;
        if (isRecent || !mayPass(m_ownEvents, event))
            continue;
        Event summary;
        summary.kind = "drop";
        summary.step = event.step;
        summary.wallNs = event.wallNs;
        summary.text = countText(kind.untold, "more event ", "more events ") + kind.name
            + (kind.untold == 1 ? " was" : " were")
            + " dropped: there are too many of them; raise their thresholds or switch them off";
        passed.push_back(std::move(summary));
        kind.untold = 0;
        kind.toldAt = event.wallNs;
        kind.wasTold = true;
    }
    batch.events = std::move(passed);
}

}
