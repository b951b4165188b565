// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <telltale/core/threadhome.h>
#include <telltale/store/capsuletransaction.h>
#include <telltale/store/catalog.h>
#include <telltale/store/livelayout.h>

namespace telltale::store {

/// The series of a layout in the order in which the step called them.
struct CallOrder {
    std::int64_t stream = 0;
    LayoutId layout;
    Step step;
    std::vector<std::uint32_t> ids;
};

/// A batch that breaks the rules, kept as it came.
struct Quarantined {
    std::int64_t stream = 0;
    std::uint64_t seq = 0;
    std::string raw;
    std::string reason;
    std::vector<Drop> drops; ///< what it held, and what it told of
};

/// Writes the rows of a capsule's directory and log, a function for each type of record. Each works in the transaction
/// under way, which learns the ids of the new rows. Thread: store.
class RecordWriter {
public:
    explicit RecordWriter(CapsuleTransaction& transaction)
        : m_transaction(transaction)
    {
    }
    Expected<void> prepare();

    /// With its groups and series.
    Expected<void> writeLayout(SourceId source, const LiveLayout& live);
    Expected<void> writeCallOrder(const CallOrder& order);
    Expected<void> writeEvent(const SourceInfo& source, const Event& event);
    std::int64_t lastEvent() const { return m_transaction.writing().events.last; }
    Expected<void> writeBlob(std::int64_t stream, const Blob& blob);
    Expected<void> writeDrop(SourceId source, const Drop& drop);
    Expected<void> writeQuarantined(SourceId source, const Quarantined& bad);

private:
    CapsuleTransaction& m_transaction;
    Statement m_layout, m_group, m_series, m_callOrder, m_event, m_blob, m_dropped, m_droppedMore, m_quarantine;
    ThreadHome m_home;
};

}
