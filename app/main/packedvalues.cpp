// SPDX-License-Identifier: GPL-3.0-or-later
#include "packedvalues.h"

#include <algorithm>
#include <bit>
#include <map>
#include <ostream>
#include <set>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/store/confighistory.h>

namespace telltale::app {
namespace {

using series::CellState;
using PackedJson = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

constexpr std::int64_t kPackedSteps = 256; ///< that are read at once: a tile's
constexpr float kWholeFloats = 16'777'216.0f; ///< from here on a float is no longer every whole number

struct PackedTable {
    const store::SourceInfo* source = nullptr;
    Kind kind = Kind::Unspecified;
    std::vector<Stat> stats;
    std::vector<const store::SeriesInfo*> series;
};

/// By attempt, rank and kind; what was told in parts is one table again, in the order in which it was told.
std::vector<PackedTable> packedTables(const store::Catalog& catalog, std::span<const SeriesId> chosen)
{
    std::map<GroupId, const store::GroupInfo*> groups;
    for (const store::GroupInfo& group : catalog.groups)
        groups.emplace(group.id, &group);
    std::map<SourceId, const store::SourceInfo*> sources;
    for (const store::SourceInfo& source : catalog.sources)
        sources.emplace(source.id, &source);
    const std::set<SeriesId> wanted(chosen.begin(), chosen.end());
    std::map<std::tuple<int, Rank, SourceId, Kind, std::vector<Stat>>, PackedTable> tables;
    for (const store::SeriesInfo& info : catalog.series) {
        const auto group = groups.find(info.group);
        const auto source = sources.find(info.source);
        if (!wanted.contains(info.id) || group == groups.end() || source == sources.end() || group->second->edges)
            continue;
        std::vector<Stat> stats = group->second->stats;
        std::erase_if(stats, [](Stat stat) { return isIdentity(stat) || stat == Stat::Hist; });
        PackedTable& table
            = tables[{ source->second->attempt, source->second->rank, info.source, info.kind, group->second->stats }];
        table.source = source->second;
        table.kind = info.kind;
        table.stats = std::move(stats);
        table.series.push_back(&info);
    }
    std::vector<PackedTable> list;
    list.reserve(tables.size());
    for (auto& [key, table] : tables)
        list.push_back(std::move(table));
    return list;
}

void writeLine(std::ostream& out, const PackedJson& line)
{
    out << line.dump(-1, ' ', false, PackedJson::error_handler_t::replace) << '\n';
}

PackedJson toJson(const store::SeriesInfo& info)
{
    const Slot& slot = info.slot;
    return { { "name", info.name },
        { "slot",
            { { "role", static_cast<int>(slot.role) }, { "number", slot.number }, { "head", slot.head },
                { "expert", slot.expert }, { "call", slot.call }, { "word", slot.word } } },
        { "chunk", info.vppStage }, { "micro_step", info.microStep }, { "form", info.form },
        { "definition", info.definition }, { "numel", info.numel } };
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

Expected<void> writeHeader(
    std::ostream& out, store::RunReader& reader, const store::Catalog& catalog, const std::vector<PackedTable>& tables)
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
    for (const PackedTable& table : tables) {
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

/// The values of one row that a float does not hold.
Expected<void> makeExact(
    store::RunReader& reader, const series::RowAttempts& row, Stat stat, StepRange steps, double* values)
{
    return reader.raw(row, stat, steps, [&](const series::RawValue& value) {
        values[value.step.value - steps.first.value] = value.value;
        return true;
    });
}

/// The values of one stat as they are written; whether there are any.
struct PackedColumn {
    Stat stat;
    series::HeatResult heat;
    std::vector<double> wide;

    Expected<void> read(store::RunReader& reader, const series::HeatQuery& query)
    {
        auto read = reader.heatmap(query);
        if (!read)
            return tl::unexpected<Error>(std::move(read.error()));
        heat = std::move(*read);
        if (columnType(stat) == ColumnType::F32)
            return {};
        wide.assign(heat.values.begin(), heat.values.end());
        const auto columns = static_cast<std::size_t>(heat.columns);
        for (std::size_t row = 0; row < query.rows.size(); ++row) {
            const auto* first = heat.values.data() + row * columns;
            const bool isExact = isWhole(stat)
                && std::none_of(first, first + columns, [](float value) { return value >= kWholeFloats; });
            if (isExact)
                continue;
            if (auto ok = makeExact(reader, query.rows[row], stat, query.range, wide.data() + row * columns); !ok)
                return ok;
        }
        return {};
    }
    bool hasAny() const
    {
        return std::any_of(
            heat.states.begin(), heat.states.end(), [](CellState state) { return state > CellState::Gap; });
    }
    void write(std::ostream& out) const
    {
        if (wide.empty())
            writeBytes(out, heat.values.data(), heat.values.size() * sizeof(float));
        else
            writeBytes(out, wide.data(), wide.size() * sizeof(double));
        writeBytes(out, heat.states.data(), heat.states.size());
    }
};

Expected<void> writeBlock(
    std::ostream& out, store::RunReader& reader, const PackedTable& table, std::size_t number, StepRange steps)
{
    series::HeatQuery query;
    query.range = steps;
    query.pixels = static_cast<int>(steps.count());
    for (const store::SeriesInfo* info : table.series)
        query.rows.push_back({ info->id });
    std::vector<PackedColumn> columns;
    bool hasAny = false;
    for (const Stat stat : table.stats) {
        query.stat = stat;
        PackedColumn& column = columns.emplace_back(PackedColumn { stat, {}, {} });
        if (auto ok = column.read(reader, query); !ok)
            return ok;
        hasAny = hasAny || column.hasAny();
    }
    if (!hasAny)
        return {};
    writeLine(out, { { "table", number }, { "first", steps.first.value }, { "steps", steps.count() } });
    for (const PackedColumn& column : columns)
        column.write(out);
    return {};
}

Expected<void> writeBlocks(
    std::ostream& out, store::RunReader& reader, const std::vector<PackedTable>& tables, StepRange range)
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
    const std::vector<PackedTable> tables = packedTables(catalog, chosen);
    auto done = writeHeader(out, reader, catalog, tables);
    if (done)
        done = writeBlocks(out, reader, tables, range);
    writeLine(out, done ? PackedJson { { "end", true } } : PackedJson { { "error", done.error().sentence() } });
    return done;
}

}
