// SPDX-License-Identifier: GPL-3.0-or-later
#include "showmaps.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/analysis/headmaps.h>
#include <telltale/core/namepattern.h>
#include <telltale/core/plaintext.h>

namespace telltale::app {
namespace {

using analysis::HeadMaps;
using series::CellState;

struct Asked {
    std::string name;
    NamePattern pattern;
    std::optional<Rank> rank;
    StepRange steps;

    bool chooses(const store::DocumentInfo& one) const
    {
        const bool isNamed = one.name == name || (!pattern.isPlainText() && pattern.matches(one.name));
        return isNamed && (!rank || one.rank == *rank) && one.step >= steps.first && one.step <= steps.last;
    }
};

std::string cellJson(float cell)
{
    if (cell == HeadMaps::kUnseen)
        return "null";
    return jsonText(static_cast<double>(cell), std::isnan(cell) ? CellState::NaN : CellState::Value);
}

/// A line a head: what its cells are, and how many of them are not finite.
void writeText(std::ostream& out, const store::DocumentInfo& info, const HeadMaps& maps)
{
    const std::size_t each = maps.cells.size() / maps.heads.size();
    for (std::size_t head = 0; head < maps.heads.size(); ++head) {
        const auto first = maps.cells.begin() + static_cast<std::ptrdiff_t>(head * each);
        const auto broken = std::count_if(
            first, first + static_cast<std::ptrdiff_t>(each), [](float cell) { return !std::isfinite(cell); });
        out << fmt::format("{:<9} {:<5} {:<5} {:<9} {:<15} {:<6} {}\n", info.step.value, info.rank.value,
            maps.heads[head], fmt::format("{}x{}", maps.rows, maps.columns),
            fmt::format("{}x{}", maps.shape.queries, maps.shape.keys), broken, terminalText(info.name));
    }
}

void writeJson(std::ostream& out, const store::DocumentInfo& info, const HeadMaps& maps)
{
    const nlohmann::json words(maps.definition), name(info.name);
    const auto quoted = [](const nlohmann::json& text) {
        return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    out << fmt::format(R"({{"name":{},"rank":{},"step":{},"call":{},"chunk":{},"queries":{},"keys":{},)"
                       R"("query_heads":{},"key_heads":{},"queries_per_row":{},"keys_per_column":{},"looked":{},)"
                       R"("scale":{},"definition":{},"maps":[)",
        quoted(name), info.rank.value, info.step.value, maps.call, maps.chunk, maps.shape.queries, maps.shape.keys,
        maps.shape.heads, maps.shape.keyHeads, maps.queriesPerRow, maps.keysPerColumn, maps.looked,
        jsonText(maps.scale, CellState::Value), quoted(words));
    for (std::size_t head = 0; head < maps.heads.size(); ++head) {
        out << (head == 0 ? "" : ",") << fmt::format(R"({{"head":{},"cells":[)", maps.heads[head]);
        for (int row = 0; row < maps.rows; ++row) {
            out << (row == 0 ? "[" : ",[");
            for (int column = 0; column < maps.columns; ++column)
                out << (column == 0 ? "" : ",") << cellJson(maps.cell(head, row, column));
            out << ']';
        }
        out << "]}";
    }
    out << "]}";
}

}

int runShowMaps(const Args& args, Report& report)
{
    const auto rank = rankOf(args);
    if (!rank)
        return report.failUsage(rank.error());
    Asked asked { *args.value("--maps"), NamePattern(*args.value("--maps")), *rank, {} };
    if (!asked.pattern.isValid())
        return report.failUsage({ ErrorCode::BadInput, fmt::format("--maps {} is not a regular expression", asked.name),
            asked.pattern.error() });
    const auto run = openRun(args);
    if (!run)
        return report.fail(run.error());
    const auto steps = parseSteps(args.value("--steps").value_or(":"), run->catalog->steps);
    if (!steps)
        return report.failUsage(steps.error());
    asked.steps = *steps;
    const auto all = run->reader->documents(analysis::kHeadMapKind);
    if (!all)
        return report.fail(all.error());
    if (all->empty())
        return report.fail({ ErrorCode::NotFound, "this run has no attention maps",
            R"(ask for some in its config: "telltale": {"attention_maps": {"layers.0.attn": [0]}})" });
    std::vector<store::DocumentInfo> chosen;
    std::copy_if(all->begin(), all->end(), std::back_inserter(chosen),
        [&asked](const store::DocumentInfo& one) { return asked.chooses(one); });
    if (chosen.empty())
        return report.failUsage({ ErrorCode::BadInput,
            fmt::format("no attention map of '{}' is of the rank and steps asked for", asked.name),
            fmt::format("the first one is of {}, rank {}, step {}", all->front().name, all->front().rank.value,
                all->front().step.value) });
    std::stable_sort(chosen.begin(), chosen.end(),
        [](const store::DocumentInfo& a, const store::DocumentInfo& b) { return a.step < b.step; });

    const bool isJson = args.has("--json");
    std::ostream& out = report.out();
    out << (isJson ? R"({"attention_maps":[)"
                   : fmt::format("{:<9} {:<5} {:<5} {:<9} {:<15} {:<6} {}\n", "STEP", "RANK", "HEAD", "CELLS",
                       "QUERIESxKEYS", "BROKEN", "MODULE"));
    int code = kExitDone;
    bool isFirst = true;
    for (const store::DocumentInfo& info : chosen) {
        const auto maps = run->reader->document(info.id).and_then(
            [](const std::string& document) { return analysis::parseHeadMaps(document); });
        if (!maps) {
            report.say(fmt::format("step {} of {}: {}", info.step.value, info.name, maps.error().sentence()));
            code = kExitFailed;
            continue;
        }
        if (isJson) {
            out << (isFirst ? "" : ",");
            writeJson(out, info, *maps);
        } else {
            writeText(out, info, *maps);
        }
        isFirst = false;
    }
    if (isJson)
        out << "]}\n";
    return code;
}

}
