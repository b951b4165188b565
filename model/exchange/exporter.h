// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>

#include <telltale/exchange/runwriter.h>
#include <telltale/exchange/selection.h>

namespace telltale::exchange {

/// Reads a run once, in blocks of 256 steps, and hands it to a writer; then what has been added since, as often as it
/// is asked. Memory: a block of 512 series. Thread: one, that of the reader.
class Exporter {
public:
    /// Called between blocks with the share that is done; false ends the export with ErrorCode::Canceled.
    using Progress = std::function<bool(double)>;

    Exporter(store::RunReader& reader, Selection selection, RunWriter& writer, Progress progress = {});

    /// Everything that is not written yet. Of processes that still run the newest step waits: more of it may come.
    Expected<void> advance();
    /// Whether a process may still add something.
    bool isLive() const { return m_isLive; }

private:
    struct Begun {
        Step next; ///< the first step that is not written
        StepTimes times;
        bool hasTexts = false;
    };
    Expected<void> advance(const store::Catalog& catalog, const store::SourceInfo& source,
        std::span<const MeasuredTable> tables, StepRange steps);
    Expected<void> writeBlocks(const MeasuredTable& table, StepRange steps, const StepTimes& times);
    Expected<void> writeHistograms(const MeasuredTable& table, StepRange steps, const StepTimes& times);
    Expected<void> readTimes(const store::Catalog& catalog, const store::SourceInfo& source, StepRange steps);
    Expected<void> writeTexts(const store::SourceInfo& source, Begun& begun);
    StepRange stepsOf(const store::SourceInfo& source);

    store::RunReader& m_reader;
    Selection m_selection;
    RunWriter& m_writer;
    Progress m_progress;
    std::map<SourceId, Begun> m_begun;
    bool m_isLive = true;
    double m_done = 0, m_all = 0; ///< blocks
};

}
