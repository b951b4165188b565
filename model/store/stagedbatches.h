// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <telltale/core/samplebatch.h>
#include <telltale/core/threadhome.h>
#include <telltale/store/openlayouts.h>
#include <telltale/store/recordwriter.h>
#include <telltale/store/storeservice.h>
#include <telltale/store/streambook.h>

namespace telltale::store {

/// What was taken and is not committed: it stands in open tiles, unpublished, and in rows that the next commit writes.
/// A commit that fails may write it again. Thread: store.
class StagedBatches {
public:
    StagedBatches(StreamBook& book, OpenLayouts& layouts)
        : m_book(book)
        , m_layouts(layouts)
    {
    }
    bool isEmpty() const { return m_batches.empty() && m_quarantined.empty() && m_records.empty(); }

    /// Why the batch breaks the schema; empty when it does not.
    std::string conflict(std::int64_t stream, const SampleBatch& batch) const;
    /// Of a batch without conflict, whose layouts are all open.
    void take(std::int64_t stream, std::shared_ptr<const SampleBatch> batch);
    void quarantine(Quarantined bad);
    void add(OwnRecord record) { m_records.push_back({ std::move(record), 0 }); }
    void forgetCallOrder(const LiveLayout& layout) { m_lastOrder.erase({ layout.stream(), layout.layout()->id }); }

    /// In a transaction.
    Expected<void> write(RecordWriter& records);
    /// Tells what has become durable, and forgets it.
    void committed(Durable& news, LiveRun& live);
    /// What became of the records since the last call.
    std::vector<RecordWritten> takeWritten() { return std::exchange(m_written, {}); }
    /// Those that wait will not be written.
    void giveUpRecords(const Error& error);

private:
    struct Batch {
        std::int64_t stream = 0;
        std::int64_t tailId = 0; ///< 0 = no blocks
        std::shared_ptr<const SampleBatch> batch;
        std::string tail;
    };
    struct Record {
        OwnRecord record;
        std::int64_t id = 0; ///< that the transaction under way gave it
    };
    LiveLayout* addLayout(std::int64_t stream, const std::shared_ptr<const SeriesLayout>& layout);
    Expected<void> writeBatch(RecordWriter& records, const Batch& staged);
    void noteSteps(const SampleBatch& batch, LiveRun& live) const;

    StreamBook& m_book;
    OpenLayouts& m_layouts;
    std::vector<LiveLayout*> m_newLayouts;
    std::vector<Batch> m_batches;
    std::vector<Quarantined> m_quarantined;
    std::vector<Record> m_records;
    std::vector<RecordWritten> m_written;
    std::vector<CallOrder> m_callOrders;
    std::map<std::pair<std::int64_t, LayoutId>, std::vector<std::uint32_t>> m_lastOrder;
    ThreadHome m_home;
};

}
