// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/capsulewriter.h>

#include <algorithm>
#include <functional>

#include <sqlite3.h>

#include <telltale/core/bytes.h>
#include <telltale/core/histogram.h>
#include <telltale/store/capsulestatements.h>
#include <telltale/store/clock.h>
#include <telltale/store/layoutcodec.h>
#include <telltale/store/schema.h>
#include <telltale/store/storeservice.h>
#include <telltale/store/tailcodec.h>

namespace telltale::store {

CapsuleWriter::CapsuleWriter(std::string path, Connection db, LiveRun& live)
    : m_path(std::move(path))
    , m_db(std::move(db))
    , m_live(live)
{
}

CapsuleWriter::~CapsuleWriter() = default;

std::vector<std::shared_ptr<const SeriesLayout>> CapsuleWriter::layouts(std::int64_t stream) const
{
    std::vector<std::shared_ptr<const SeriesLayout>> known;
    for (const auto& [id, layout] : m_streams.at(stream).layouts)
        known.push_back(layout->layout());
    return known;
}

std::int64_t CapsuleWriter::findStream(const std::string& agentId, std::uint64_t incarnation) const
{
    for (const auto& [id, stream] : m_streams) {
        if (stream.agentId == agentId && stream.incarnation == incarnation)
            return id;
    }
    return 0;
}

int CapsuleWriter::attemptsOf(Rank rank) const
{
    int attempts = 0;
    for (const auto& [id, source] : m_sources) {
        if (source.rank == rank)
            attempts = std::max(attempts, source.attempt + 1);
    }
    return attempts;
}

Expected<void> CapsuleWriter::transaction(const std::function<Expected<void>()>& work)
{
    auto done = m_sql->begin.run();
    if (!done)
        return done;
    m_writing = {};
    done = work();
    if (done)
        done = m_sql->commit.run();
    if (done)
        m_news.add(m_writing);
    // A full disk may have rolled the transaction back already.
    if (!done && sqlite3_get_autocommit(m_db.get()) == 0)
        static_cast<void>(m_sql->rollback.run());
    return done;
}

Expected<void> CapsuleWriter::sourceWritten(SourceId source)
{
    return m_sql->sourceText.bind(1, source.value).run();
}

Expected<std::int64_t> CapsuleWriter::addStream(const StreamRequest& request, int attempt)
{
    SourceInfo source;
    source.id = SourceId(m_sources.empty() ? 1 : m_sources.rbegin()->first + 1);
    source.rank = request.rank;
    source.attempt = attempt;
    source.agentId = request.agentId;
    StreamRow stream;
    stream.id = m_streams.empty() ? 1 : m_streams.rbegin()->first + 1;
    stream.source = source.id;
    stream.agentId = request.agentId;
    stream.incarnation = request.incarnation;
    stream.epoch = 1;
    auto done = transaction([&]() -> Expected<void> {
        auto ok = m_sql->source.bind(1, source.id.value)
                      .bind(2, source.rank.value)
                      .bind(3, attempt)
                      .bindText(4, request.agentId)
                      .bindText(5, request.host)
                      .bind(6, request.pid)
                      .bindText(7, request.device)
                      .bindText(8, request.framework)
                      .bindText(9, request.agentVersion)
                      .bind(10, request.dp)
                      .bind(11, request.tp)
                      .bind(12, request.pp)
                      .bind(13, request.ep)
                      .run();
        if (ok)
            ok = sourceWritten(source.id);
        if (!ok)
            return ok;
        return m_sql->stream.bind(1, stream.id)
            .bind(2, source.id.value)
            .bindText(3, stream.agentId)
            .bind(4, static_cast<std::int64_t>(stream.incarnation))
            .bind(5, static_cast<std::int64_t>(stream.durableSeq))
            .run();
    });
    if (!done)
        return tl::unexpected<Error>(std::move(done.error()));
    m_sources[source.id.value] = source;
    m_streams[stream.id] = stream;
    m_news.areSourcesChanged = true;
    return stream.id;
}

Expected<void> CapsuleWriter::skipTo(std::int64_t id, std::uint64_t firstRetained)
{
    StreamRow& stream = m_streams.at(id);
    if (firstRetained <= stream.durableSeq + 1)
        return {};
    const std::string text = "batches " + std::to_string(stream.durableSeq + 1) + " to "
        + std::to_string(firstRetained - 1) + " are lost: neither the agent nor the store has them";
    const SourceInfo& source = m_sources.at(stream.source.value);
    auto done = transaction([&]() -> Expected<void> {
        auto ok = m_sql->event.bind(1, stream.source.value)
                      .bindText(2, "gap")
                      .bind(3, source.rank.value)
                      .bind(4, source.lastStep.value)
                      .bind(5, wallClockNs())
                      .bindText(6, text)
                      .bindText(7, "")
                      .run();
        if (!ok)
            return ok;
        m_writing.events.add(sqlite3_last_insert_rowid(m_db.get()));
        return m_sql->streamSeq.bind(1, static_cast<std::int64_t>(firstRetained - 1))
            .bind(2, static_cast<std::int64_t>(stream.duplicates))
            .bind(3, static_cast<std::int64_t>(stream.rejected))
            .bind(4, id)
            .run();
    });
    if (!done)
        return done;
    stream.durableSeq = stream.stagedSeq = firstRetained - 1;
    return {};
}

Expected<void> CapsuleWriter::resume(std::int64_t id)
{
    StreamRow& stream = m_streams.at(id);
    auto done = transaction([&]() -> Expected<void> {
        auto ok = m_sql->sourceState.bind(1, static_cast<int>(SourceState::Running)).bind(2, stream.source.value).run();
        if (ok)
            ok = sourceWritten(stream.source);
        if (!ok)
            return ok;
        return m_sql->streamEpoch.bind(1, static_cast<std::int64_t>(stream.epoch) + 1).bind(2, id).run();
    });
    if (!done)
        return done;
    ++stream.epoch;
    m_sources.at(stream.source.value).state = SourceState::Running;
    m_news.areSourcesChanged = true;
    return {};
}

Expected<void> CapsuleWriter::leave(std::int64_t id, SourceState state, std::uint64_t announcedSeq, Produced produced)
{
    StreamRow& stream = m_streams.at(id);
    std::optional<StreamAccount> account = stream.account;
    if (account) {
        Produced& known = account->produced;
        known = { std::max(known.samples, produced.samples), std::max(known.scalars, produced.scalars),
            known.isFinal || produced.isFinal };
    }
    auto done = transaction([&]() -> Expected<void> {
        auto ok = m_sql->sourceState.bind(1, static_cast<int>(state)).bind(2, stream.source.value).run();
        if (ok)
            ok = sourceWritten(stream.source);
        if (ok && account)
            ok = setMeta(accountKey(id), account->text());
        if (!ok || announcedSeq <= stream.announcedSeq)
            return ok;
        return setMeta(toldSeqKey(id), std::to_string(announcedSeq));
    });
    if (!done)
        return done;
    stream.announcedSeq = std::max(stream.announcedSeq, announcedSeq);
    stream.account = account;
    m_sources.at(stream.source.value).state = state;
    m_news.areSourcesChanged = true;
    return {};
}

Expected<void> CapsuleWriter::setState(RunState state)
{
    return setMeta("state", std::to_string(static_cast<int>(state)));
}

Expected<void> CapsuleWriter::setMeta(const std::string& key, const std::string& value)
{
    return m_sql->meta.bindText(1, key).bindText(2, value).run();
}

LiveLayout* CapsuleWriter::addLayout(StreamRow& stream, const std::shared_ptr<const SeriesLayout>& layout)
{
    auto groups = groupsOf(*layout);
    for (LiveGroup& group : groups)
        group.id = GroupId(m_nextGroup++);
    m_layouts.push_back(std::make_unique<LiveLayout>(stream.id, layout, std::move(groups)));
    LiveLayout* live = m_layouts.back().get();
    stream.layouts[layout->id] = live;
    m_newLayouts.push_back(live);
    return live;
}

std::string CapsuleWriter::conflict(const StreamRow& stream, const SampleBatch& batch) const
{
    std::map<LayoutId, const SeriesLayout*> introduced;
    const auto check = [&](const SeriesLayout& layout) -> std::string {
        const auto known = stream.layouts.find(layout.id);
        const SeriesLayout* other = known != stream.layouts.end()
            ? known->second->layout().get()
            : introduced.try_emplace(layout.id, &layout).first->second;
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

Expected<std::string> CapsuleWriter::stage(std::int64_t id, std::shared_ptr<const SampleBatch> batch)
{
    StreamRow& stream = m_streams.at(id);
    if (batch->seq <= stream.stagedSeq) {
        ++stream.duplicates;
        m_touchedStreams.insert(id);
        return std::string();
    }
    if (std::string why = conflict(stream, *batch); !why.empty())
        return why;
    for (const StepBlock& block : batch->blocks) {
        const auto known = stream.layouts.find(block.layout->id);
        if (known == stream.layouts.end() || !known->second->isReleased())
            continue;
        if (auto ok = restore(*known->second); !ok)
            return tl::unexpected<Error>(std::move(ok.error()));
    }
    stream.stagedSeq = batch->seq;
    if (stream.account) {
        stream.account->samples += batch->samples;
        stream.account->scalars += batch->scalars;
    }
    m_touchedStreams.insert(id);
    const auto now = Clock::now();
    stream.batches += batch->blocks.empty() ? 0 : 1;
    for (const auto& layout : batch->layouts) {
        if (!stream.layouts.contains(layout->id))
            addLayout(stream, layout);
    }
    TailEncoder tail;
    tail.reserve(batch->byteCost());
    TailRow row;
    for (const StepBlock& block : batch->blocks) {
        const auto known = stream.layouts.find(block.layout->id);
        LiveLayout* live = known != stream.layouts.end() ? known->second : addLayout(stream, block.layout);
        const std::int64_t column = live->place(block);
        live->fill(block, column);
        live->use(now, stream.batches);
        tail.append(block, column);
        m_touched.insert(live);
        const auto entry = std::find_if(
            row.columns.begin(), row.columns.end(), [live](const auto& item) { return item.first == live; });
        if (entry == row.columns.end())
            row.columns.emplace_back(live, column);
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
    Staged staged { id, 0, std::move(batch), {} };
    if (!tail.isEmpty()) {
        staged.tailId = row.id = m_nextTail++;
        staged.tail = tail.take();
        m_tails.push_back(std::move(row));
    }
    m_staged.push_back(std::move(staged));
    return std::string();
}

void CapsuleWriter::stageQuarantine(
    std::int64_t id, std::uint64_t seq, std::string raw, std::string reason, Lost lost, std::vector<Drop> drops)
{
    StreamRow& stream = m_streams.at(id);
    m_touchedStreams.insert(id);
    if (seq <= stream.stagedSeq) {
        ++stream.duplicates;
        return;
    }
    stream.stagedSeq = seq;
    ++stream.rejected;
    // Of which steps it was is not known.
    const StepRange none;
    const std::string why = "the server refused a batch: " + reason;
    if (lost.samples > 0)
        drops.push_back({ dropclass::kTensors, none.first, none.last, lost.samples, raw.size(), why });
    if (lost.scalars > 0)
        drops.push_back({ dropclass::kScalars, none.first, none.last, lost.scalars, 0, why });
    m_quarantined.push_back({ id, seq, std::move(raw), std::move(reason), std::move(drops) });
}

}
