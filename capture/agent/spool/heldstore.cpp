// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/spool/heldstore.h>

#include <algorithm>

#include <fmt/format.h>

namespace telltale::agent {
namespace {

/// What is read ahead of the batch that is wanted: enough for the sender's next turn, little beside its memory.
constexpr std::uint64_t kReadAheadBatches = 64;
constexpr std::size_t kReadAheadBytes = 1u << 20;

}

bool HeldStore::add(std::uint64_t seq, std::string& payload, BatchInfo info, Clock::time_point now)
{
    m_home.check();
    if (m_memoryBytes + payload.size() > kMaxMemoryBytes)
        return false;
    if (m_items.empty()) {
        m_firstSeq = seq;
        m_firstUnasked = seq;
    }
    // First what may throw: a batch that is not held must not be half there.
    Item item;
    item.info = std::move(info);
    item.payload = std::make_shared<const std::string>(std::move(payload));
    item.since = now;
    item.samplesBefore = m_samplesSoFar;
    item.scalarsBefore = m_scalarsSoFar;
    const Item& held = m_items.emplace_back(std::move(item));
    m_memoryBytes += held.payload->size();
    m_samplesSoFar += held.info.samples;
    m_scalarsSoFar += held.info.scalars;
    return true;
}

void HeldStore::addSpooled(std::uint64_t seq, const SpoolPlace& place, BatchInfo info)
{
    if (m_items.empty())
        m_firstSeq = seq;
    Item& item = m_items.emplace_back();
    item.info = std::move(info);
    item.place = place;
    m_firstUnasked = seq + 1;
}

void HeldStore::addLost(std::uint64_t seq, std::optional<LostBatch> lost)
{
    if (m_items.empty())
        m_firstSeq = seq;
    Item& item = m_items.emplace_back();
    item.isLost = true;
    if (lost) {
        item.info = { lost->samples, lost->scalars, nullptr, lost->steps, true };
        item.lost = std::make_unique<const LostBatch>(std::move(*lost));
    }
    m_firstUnasked = seq + 1;
}

HeldStore::Item* HeldStore::find(std::uint64_t seq)
{
    if (seq < m_firstSeq || seq - m_firstSeq >= m_items.size())
        return nullptr;
    return &m_items[static_cast<std::size_t>(seq - m_firstSeq)];
}

std::optional<std::string> HeldStore::payload(std::uint64_t seq)
{
    Item* item = find(seq);
    if (!item)
        return lostBesidePayload();
    if (item->place.segment != 0 && !item->payload && !item->isLost) {
        read(seq);
        takeAnswers();
    }
    if (item->isLost)
        return item->lost ? lostBatchPayload(*item->lost) : lostBesidePayload();
    if (item->payload) {
        if (item->place.segment == 0)
            return *item->payload;
        // Read for this: should it be wanted again, the disk still has it.
        item->isReading = false;
        return *std::exchange(item->payload, nullptr);
    }
    if (m_disk.stuckFor() > m_patience)
        return loseAt(seq, *item, "its disk does not answer");
    return std::nullopt;
}

void HeldStore::read(std::uint64_t seq)
{
    std::vector<Spool::Kept> wanted;
    std::size_t bytes = 0;
    const Item* first = find(seq);
    // The next window is asked for when half of the last one is used up.
    if (first->isReading && m_readUpTo > seq + kReadAheadBatches / 2)
        return;
    for (std::uint64_t next = seq; next < seq + kReadAheadBatches && bytes < kReadAheadBytes; ++next) {
        Item* item = find(next);
        if (!item || item->place.segment == 0)
            break;
        bytes += item->place.bytes;
        if (item->isReading || item->isLost)
            continue;
        item->isReading = true;
        wanted.push_back({ next, item->place });
        m_readUpTo = next + 1;
    }
    if (!wanted.empty())
        m_disk.read(std::move(wanted));
}

std::string HeldStore::loseAt(std::uint64_t seq, Item& item, const std::string& why)
{
    LostBatch lost { item.info.samples, item.info.scalars, item.info.steps, true, why };
    if (!item.info.isCounted) {
        item.info.samples = lost.samples = 1;
        lost.isExact = false;
    }
    m_trouble = fmt::format("batch {} is lost: {}", seq, why);
    item.isLost = true;
    item.info.layouts = nullptr; // what stands in uses none
    item.lost = std::make_unique<const LostBatch>(std::move(lost));
    return lostBatchPayload(*item.lost);
}

std::string HeldStore::giveUp(std::uint64_t seq, const std::string& why)
{
    Item* item = find(seq);
    return item ? loseAt(seq, *item, why) : lostBesidePayload();
}

const BatchInfo* HeldStore::info(std::uint64_t seq) const
{
    const Item* item = const_cast<HeldStore*>(this)->find(seq);
    return item ? &item->info : nullptr;
}

HeldStore::Forgotten HeldStore::forgetUpTo(std::uint64_t seq)
{
    m_home.check();
    Forgotten gone;
    while (!m_items.empty() && m_firstSeq <= seq) {
        const Item& item = m_items.front();
        ++gone.batches;
        const auto rejected = m_rejected.extract(m_firstSeq);
        Lost refused = rejected && !item.isLost ? rejected.mapped() : Lost {};
        refused = { std::min(refused.samples, item.info.samples), std::min(refused.scalars, item.info.scalars) };
        gone.rejectedSamples += refused.samples;
        gone.rejectedScalars += refused.scalars;
        (item.isLost ? gone.lostSamples : gone.samples) += item.info.samples - refused.samples;
        (item.isLost ? gone.lostScalars : gone.scalars) += item.info.scalars - refused.scalars;
        if (item.place.segment == 0 && item.payload)
            m_memoryBytes -= item.payload->size();
        m_items.pop_front();
        ++m_firstSeq;
    }
    m_firstUnasked = std::max(m_firstUnasked, m_firstSeq);
    if (gone.batches > 0)
        m_disk.forgetUpTo(seq);
    return gone;
}

void HeldStore::spill(Clock::time_point now, std::chrono::milliseconds olderThan)
{
    while (Item* item = find(m_firstUnasked)) {
        if (now - item->since < olderThan)
            break;
        SpoolBatch batch;
        batch.seq = m_firstUnasked;
        batch.payload = item->payload;
        if (item->info.layouts)
            for (const LayoutId id : *item->info.layouts)
                if (auto layout = m_layouts.find(id))
                    batch.layouts.push_back(std::move(layout));
        batch.facts
            = { item->info.samples, item->info.scalars, item->samplesBefore, item->scalarsBefore, item->info.steps };
        m_disk.write(std::move(batch));
        ++m_firstUnasked;
    }
}

void HeldStore::takeAnswers()
{
    m_home.check();
    SpoolDisk::Answers answers = m_disk.takeAnswers();
    for (const Spool::Kept& kept : answers.kept) {
        Item* item = find(kept.seq);
        if (!item || !item->payload || item->place.segment != 0)
            continue;
        m_memoryBytes -= item->payload->size();
        item->payload = nullptr;
        item->place = kept.place;
    }
    for (SpoolDisk::Read& read : answers.reads) {
        Item* item = find(read.seq);
        if (!item || item->isLost || item->place.segment == 0)
            continue;
        if (read.bytes)
            item->payload = std::make_shared<const std::string>(std::move(*read.bytes));
        else
            loseAt(read.seq, *item, read.bytes.error().what);
    }
}

Lost HeldStore::countsOf(const std::vector<std::uint64_t>& seqs) const
{
    Lost sum;
    for (const std::uint64_t seq : seqs)
        if (const BatchInfo* batch = info(seq)) {
            sum.samples += batch->samples;
            sum.scalars += batch->scalars;
        }
    return sum;
}

Lost HeldStore::counts() const
{
    Lost sum;
    for (const Item& item : m_items) {
        sum.samples += item.info.samples;
        sum.scalars += item.info.scalars;
    }
    return sum;
}

}
