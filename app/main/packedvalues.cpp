// SPDX-License-Identifier: GPL-3.0-or-later
#include "packedvalues.h"

#include <algorithm>
#include <bit>
#include <ostream>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/exchange/measuredtable.h>
#include <telltale/store/confighistory.h>

namespace telltale::app {
namespace {

using PackedJson = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

constexpr std::int64_t kPackedSteps = 256; ///< that are read at once: a tile's
using exchange::MeasuredTable;
using exchange::ValueBlock;

/// Of numbers: histograms and checksums are left out.
std::vector<MeasuredTable> packedTables(const store::Catalog& catalog, std::span<const SeriesId> chosen)
{
    const std::set<SeriesId> wanted(chosen.begin(), chosen.end());
    auto tables = exchange::measuredTables(
        catalog, [&wanted](const store::SeriesInfo& info) { return wanted.contains(info.id); });
    std::erase_if(tables, [](const MeasuredTable& table) { return table.edges != nullptr; });
    for (MeasuredTable& table : tables)
        std::erase_if(table.stats, [](Stat stat) { return isIdentity(stat) || stat == Stat::Hist; });
    return tables;
}

void writeLine(std::ostream& out, const PackedJson& line)
{
    out << line.dump(-1, ' ', false, PackedJson::error_handler_t::replace) << '\n';
}

PackedJson toJson(const store::SeriesInfo& info)
{
    const Slot& slot = info.desc->slot;
    return { { "name", info.desc->name },
        { "slot",
            { { "role", static_cast<int>(slot.role) }, { "number", slot.number }, { "head", slot.head },
                { "expert", slot.expert }, { "call", slot.call }, { "word", slot.word } } },
        { "chunk", info.desc->vppStage }, { "micro_step", info.desc->microStep }, { "form", info.desc->form },
        { "definition", info.desc->definition }, { "numel", info.desc->numel } };
}

/// The config that a source began with, and those that it put in force later.
PackedJson toJson(store::RunReader& reader, const store::SourceInfo& source, const store::ConfigHistory& history)
{
    const auto config = reader.blob("config", "config.json", source.firstStep);
    PackedJson line { { "attempt", source.attempt }, { "rank", source.rank.value }, { "dp", source.dp },
        { "tp", source.tp }, { "pp", source.pp }, { "ep", source.ep }, { "config", config ? *config : "" },
        { "revisions", PackedJson::array() } };
    for (const store::ConfigRevision& revision : history.revisions()) {
        const auto answer = revision.answers.find(source.rank);
        if (answer != revision.answers.end() && answer->second.phase == store::configphase::kApplied)
            line["revisions"].push_back({ { "step", answer->second.step.value }, { "config", revision.config } });
    }
    return line;
}

Expected<void> writeHeader(std::ostream& out, store::RunReader& reader, const store::Catalog& catalog,
    const std::vector<MeasuredTable>& tables)
{
    store::ConfigHistory history;
    if (auto read = history.update(reader); !read)
        return read;
    PackedJson line { { "packed", 1 }, { "names", PackedJson::object() }, { "sources", PackedJson::array() },
        { "tables", PackedJson::array() } };
    if (const auto names = reader.blob("names", "names.json", catalog.steps.last)) {
        if (PackedJson read = PackedJson::parse(*names, nullptr, false); read.is_object())
            line["names"] = std::move(read);
    }
    const store::SourceInfo* last = nullptr;
    for (const MeasuredTable& table : tables) {
        if (table.source != last)
            line["sources"].push_back(toJson(reader, *table.source, history));
        last = table.source;
        PackedJson stats = PackedJson::array(), series = PackedJson::array();
        for (const Stat stat : table.stats)
            stats.push_back(statName(stat));
        for (const store::SeriesInfo* info : table.series)
            series.push_back(toJson(*info));
        line["tables"].push_back({ { "source", line["sources"].size() - 1 }, { "kind", kindName(table.kind) },
            { "stats", std::move(stats) }, { "series", std::move(series) } });
    }
    writeLine(out, line);
    return {};
}

void writeBytes(std::ostream& out, const void* data, std::size_t size)
{
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

Expected<void> writeBlock(
    std::ostream& out, store::RunReader& reader, const MeasuredTable& table, std::size_t number, StepRange steps)
{
    const auto blocks = exchange::readBlocks(reader, table, steps);
    if (!blocks)
        return tl::unexpected<Error>(blocks.error());
    if (std::none_of(blocks->begin(), blocks->end(), [](const ValueBlock& block) { return block.hasAny(); }))
        return {};
    writeLine(out, { { "table", number }, { "first", steps.first.value }, { "steps", steps.count() } });
    for (const ValueBlock& block : *blocks) {
        if (block.wide.empty())
            writeBytes(out, block.narrow.data(), block.narrow.size() * sizeof(float));
        else
            writeBytes(out, block.wide.data(), block.wide.size() * sizeof(double));
        writeBytes(out, block.states.data(), block.states.size());
    }
    return {};
}

Expected<void> writeBlocks(
    std::ostream& out, store::RunReader& reader, const std::vector<MeasuredTable>& tables, StepRange range)
{
    for (std::size_t begin = 0, end = 0; begin < tables.size(); begin = end) {
        const store::SourceInfo& source = *tables[begin].source;
        while (end < tables.size() && tables[end].source == &source)
            ++end;
        const StepRange own { std::max(range.first, source.firstStep), std::min(range.last, source.lastStep) };
        for (Step first = own.first; first <= own.last && out; first.value += kPackedSteps) {
            const StepRange steps { first, Step { std::min(first.value + kPackedSteps - 1, own.last.value) } };
            for (std::size_t i = begin; i < end; ++i) {
                if (auto ok = writeBlock(out, reader, tables[i], i, steps); !ok)
                    return ok;
            }
        }
    }
    return {};
}

}

Expected<void> writePacked(std::ostream& out, store::RunReader& reader, const store::Catalog& catalog,
    std::span<const SeriesId> chosen, StepRange range)
{
    const std::vector<MeasuredTable> tables = packedTables(catalog, chosen);
    auto done = writeHeader(out, reader, catalog, tables);
    if (done)
        done = writeBlocks(out, reader, tables, range);
    writeLine(out, done ? PackedJson { { "end", true } } : PackedJson { { "error", done.error().sentence() } });
    return done;
}

}
