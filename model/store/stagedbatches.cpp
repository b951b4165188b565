// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/stagedbatches.h>

#include <algorithm>
#include <chrono>

#include <telltale/core/drops.h>
#include <telltale/core/histogram.h>
#include <telltale/store/clock.h>
#include <telltale/store/tailcodec.h>

namespace telltale::store {

LiveLayout* StagedBatches::addLayout(std::int64_t stream, const std::shared_ptr<const SeriesLayout>& layout)
{
    m_newLayouts.push_back(m_layouts.add(stream, layout));
    return m_newLayouts.back();
}

std::string StagedBatches::conflict(std::int64_t stream, const SampleBatch& batch) const
{
    std::map<LayoutId, const SeriesLayout*> introduced;
    const auto check = [&](const SeriesLayout& layout) -> std::string {
        const LiveLayout* known = m_layouts.find(stream, layout.id);
        const SeriesLayout* other
            = known != nullptr ? known->layout().get() : introduced.try_emplace(layout.id, &layout).first->second;
        if (other != &layout && *other != layout)
            return "layout " + std::to_string(layout.id.value) + " was sent twice with different contents";
        if (layout.series.empty() || layout.cells() > (1u << 20) || layout.stats.empty() || layout.stats.size() > 64
            || (!layout.edges.empty() && !checkEdges(layout.edges)))
            return "layout " + std::to_string(layout.id.value) + " has no series, no stats or too many";
        for (std::size_t i = 0; i < layout.stats.size(); ++i) {
            if (std::find(layout.stats.begin(), layout.stats.begin() + static_cast<std::ptrdiff_t>(i), layout.stats[i])
                != layout.stats.begin() + static_cast<std::ptrdiff_t>(i))
                return "layout " + std::to_string(layout.id.value) + " has a stat twice";
        }
        return {};
    };
    for (const auto& layout : batch.layouts) {
        if (std::string why = check(*layout); !why.empty())
            return why;
    }
    for (const StepBlock& block : batch.blocks) {
        if (!block.layout)
            return "a block has no layout";
        if (std::string why = check(*block.layout); !why.empty())
            return why;
        if (std::string why = LiveLayout::mismatch(*block.layout, block); !why.empty())
            return why;
    }
    return {};
}

void StagedBatches::take(std::int64_t id, std::shared_ptr<const SampleBatch> batch)
{
    m_home.check();
    StreamRow& stream = m_book.touch(id);
    stream.stagedSeq = batch->seq;
    if (stream.account) {
        stream.account->samples += batch->samples;
        stream.account->scalars += batch->scalars;
    }
    const auto now = std::chrono::steady_clock::now();
    stream.batches += batch->blocks.empty() ? 0 : 1;
    for (const auto& layout : batch->layouts) {
        if (m_layouts.find(id, layout->id) == nullptr)
            addLayout(id, layout);
    }
    TailEncoder tail;
    tail.reserve(batch->byteCost());
    TailLog::Columns columns;
    for (const StepBlock& block : batch->blocks) {
        LiveLayout* live = m_layouts.find(id, block.layout->id);
        if (live == nullptr)
            live = addLayout(id, block.layout);
        const std::int64_t column = live->place(block);
        live->fill(block, column);
        live->use(now, stream.batches);
        tail.append(block, column);
        m_layouts.touch(live);
        const auto entry
            = std::find_if(columns.begin(), columns.end(), [live](const auto& item) { return item.first == live; });
        if (entry == columns.end())
            columns.emplace_back(live, column);
        else
            entry->second = std::max(entry->second, column);
        if (!block.callIds.empty()) {
            auto& last = m_lastOrder[{ id, block.layout->id }];
            if (last != block.callIds) {
                last = block.callIds;
                m_callOrders.push_back({ id, block.layout->id, block.step, block.callIds });
            }
        }
    }
    Batch staged { id, 0, std::move(batch), {} };
    if (!tail.isEmpty()) {
        staged.tailId = m_layouts.tail().add(std::move(columns));
        staged.tail = tail.take();
    }
    m_batches.push_back(std::move(staged));
}

void StagedBatches::quarantine(Quarantined bad)
{
    StreamRow& stream = m_book.touch(bad.stream);
    stream.stagedSeq = bad.seq;
    ++stream.rejected;
    m_quarantined.push_back(std::move(bad));
}

Expected<void> StagedBatches::write(RecordWriter& records)
{
    m_home.check();
    std::map<SourceId, StepRange> steps;
    Expected<void> ok;
    for (std::size_t i = 0; ok && i < m_newLayouts.size(); ++i)
        ok = records.writeLayout(m_book.sourceOf(m_newLayouts[i]->stream()).id, *m_newLayouts[i]);
    for (std::size_t i = 0; ok && i < m_batches.size(); ++i) {
        ok = writeBatch(records, m_batches[i]);
        const StepRange more = m_batches[i].batch->steps();
        if (more.isEmpty())
            continue;
        StepRange& range = steps.try_emplace(m_book.sourceOf(m_batches[i].stream).id, more).first->second;
        range = { std::min(range.first, more.first), std::max(range.last, more.last) };
    }
    for (std::size_t i = 0; ok && i < m_callOrders.size(); ++i)
        ok = records.writeCallOrder(m_callOrders[i]);
    for (std::size_t i = 0; ok && i < m_quarantined.size(); ++i)
        ok = records.writeQuarantined(m_book.sourceOf(m_quarantined[i].stream).id, m_quarantined[i]);
    for (std::size_t i = 0; ok && i < m_records.size(); ++i) {
        ok = records.writeEvent(m_book.newestOf(m_records[i].record.rank), m_records[i].record.event);
        m_records[i].id = records.lastEvent();
    }
    return ok ? m_book.writeTouched(steps) : ok;
}

Expected<void> StagedBatches::writeBatch(RecordWriter& records, const Batch& staged)
{
    const SourceInfo& source = m_book.sourceOf(staged.stream);
    const SampleBatch& batch = *staged.batch;
    Expected<void> ok;
    if (staged.tailId != 0)
        ok = m_layouts.tail().write(
            staged.tailId, staged.stream, static_cast<std::int64_t>(batch.seq), batch.steps(), staged.tail);
    for (std::size_t i = 0; ok && i < batch.events.size(); ++i)
        ok = records.writeEvent(source, batch.events[i]);
    for (std::size_t i = 0; ok && i < batch.blobs.size(); ++i)
        ok = records.writeBlob(staged.stream, batch.blobs[i]);
    for (std::size_t i = 0; ok && i < batch.drops.size(); ++i)
        ok = records.writeDrop(source.id, batch.drops[i]);
    return ok;
}

void StagedBatches::noteSteps(const SampleBatch& batch, LiveRun& live) const
{
    const StepRange steps = batch.steps();
    if (steps.isEmpty())
        return;
    const std::int64_t newest = batch.stepComplete ? steps.last.value : steps.last.value - 1;
    live.lastStep.store(std::max(live.lastStep.load(std::memory_order_relaxed), newest));
    std::int64_t first = steps.first.value;
    for (const auto& [id, source] : m_book.sources()) {
        if (source.lastStep >= source.firstStep)
            first = std::min(first, source.firstStep.value);
    }
    live.firstStep.store(first);
}

void StagedBatches::committed(Durable& news, LiveRun& live)
{
    std::uint64_t samples = 0;
    std::uint64_t dropped = 0;
    const auto countDropped = [&dropped](const std::vector<Drop>& drops) {
        for (const Drop& drop : drops)
            dropped += dropclass::isSamples(drop.dropClass) ? drop.items : 0;
    };
    for (const Batch& staged : m_batches) {
        samples += staged.batch->samples;
        countDropped(staged.batch->drops);
        const StepRange steps = staged.batch->steps();
        news.addSteps(steps);
        if (!steps.isEmpty())
            news.openSteps[m_book.sourceOf(staged.stream).id]
                = staged.batch->stepComplete ? std::nullopt : std::optional(steps.last);
        noteSteps(*staged.batch, live);
    }
    for (const Quarantined& bad : m_quarantined)
        countDropped(bad.drops);
    live.storedSamples.fetch_add(samples);
    live.droppedSamples.fetch_add(dropped);
    live.lastCommitWallNs.store(wallClockNs());
    m_book.committed();
    m_newLayouts.clear();
    m_batches.clear();
    m_quarantined.clear();
    m_callOrders.clear();
    for (const Record& staged : m_records)
        m_written.push_back({ staged.record.token, staged.id, {} });
    m_records.clear();
}

void StagedBatches::giveUpRecords(const Error& error)
{
    m_home.check();
    for (const Record& staged : m_records)
        m_written.push_back({ staged.record.token, 0, error });
    m_records.clear();
}

}
