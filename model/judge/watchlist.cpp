// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/judge/watchlist.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include <telltale/core/blockname.h>
#include <telltale/series/rowindex.h>

namespace telltale::judge {
namespace {

/// What of a tensor says most about its size, where several are collected.
Stat statOf(const series::RowIndex::Row& row)
{
    if (row.kind == Kind::Scalar)
        return Stat::Value;
    if (row.kind == Kind::Attention && row.answers(Stat::Entropy))
        return Stat::Entropy;
    for (const Stat stat : { Stat::Norm, Stat::AbsMax, Stat::Entropy, Stat::Mean, Stat::Max, Stat::Min }) {
        if (row.answers(stat))
            return stat;
    }
    return Stat::Unspecified;
}

/// What a collective is about to write into, which may hold anything before: the first argument of those that have
/// their results there.
bool isUnwritten(Kind kind, const series::SeriesKey& key)
{
    if (kind != Kind::Comm || key.slot.role != Role::Before || key.slot.number > 0)
        return false;
    constexpr std::array<std::string_view, 6> kOperations { "all_gather", "reduce_scatter", "all_to_all", "recv",
        "gather", "scatter" };
    return std::any_of(kOperations.begin(), kOperations.end(),
        [&](std::string_view operation) { return key.name.starts_with(operation); });
}

double limitOf(DType type)
{
    return type == DType::F16 ? 65504.0 : 0.0;
}

/// What a kind as a whole says of a block. Inputs are other modules' outputs.
bool isRolledUp(Kind kind, const series::SeriesKey& key)
{
    switch (kind) {
    case Kind::Actv:
    case Kind::ActvGrad:
        return key.slot.role == Role::Output;
    case Kind::GradReduced:
    case Kind::GradUnreduced:
    case Kind::ParamUpdated:
    case Kind::ParamOrigin:
    case Kind::ExpAvg:
    case Kind::ExpAvgSq:
    case Kind::Update:
        return true;
    default:
        return false;
    }
}

/// A backward pass comes to the end of the model first, and is recorded in the model's order.
bool isBackward(Kind kind)
{
    return kind == Kind::ActvGrad || kind == Kind::GradReduced || kind == Kind::GradUnreduced || kind == Kind::GradSign;
}

/// Measured while a pass is in a module.
bool isOfVisit(Kind kind)
{
    return kind == Kind::Actv || kind == Kind::ActvGrad || kind == Kind::Attention || kind == Kind::Router;
}

/// When a forward pass enters and leaves a module, in one count of both.
struct Visit {
    std::int32_t enter = std::numeric_limits<std::int32_t>::max();
    std::int32_t exit = 0;

    /// Inputs are known on entering, outputs on leaving; gradients the other way round.
    std::int32_t place(Kind kind, Role role) const
    {
        const std::int32_t forward = role == Role::Input ? enter : exit;
        return kind == Kind::ActvGrad ? -forward : forward;
    }
};

/// Modules are recorded as they are left: what is below one was entered after it, and left before.
std::map<std::string, Visit> visitsOf(const series::RowIndex& index)
{
    constexpr std::int32_t kApart = 64; ///< levels of modules that may be entered in between
    std::map<std::string, Visit> visits;
    std::int32_t next = 0;
    for (const Kind kind : { Kind::Actv, Kind::ActvGrad }) {
        for (const series::RowIndex::Row* row : index.select(kind)) {
            const std::string& name = index.key(*row).name;
            if (!visits.contains(name) || visits[name].exit == 0) {
                next += kApart;
                visits[name].exit = next;
            }
            // Right before it is left, where nothing is below it.
            std::int32_t enter = std::min(visits[name].enter, visits[name].exit - 1);
            for (std::string module = name;;) {
                visits[module].enter = std::min(visits[module].enter, enter--);
                const std::size_t dot = module.rfind('.');
                if (dot == std::string::npos)
                    break;
                module.resize(dot);
            }
        }
    }
    // The whole model is entered before everything.
    if (const auto model = visits.find("(model)"); model != visits.end())
        model->second.enter = 0;
    return visits;
}

/// Of scalars by what they say: when the training comes to know them.
Phase phaseIn(Kind kind, ScalarRole role)
{
    if (kind != Kind::Scalar)
        return phaseOf(kind);
    switch (role) {
    case ScalarRole::Loss:
        return Phase::Loss;
    case ScalarRole::GradNorm:
        return Phase::Gradient;
    case ScalarRole::LearningRate:
        return Phase::Optimizer;
    case ScalarRole::LossScale:
        return Phase::Loss;
    default:
        return Phase::Step;
    }
}

/// A module whose activations are measured is known to be used: those of an expert are where it is given a token.
void noteUses(const series::RowIndex& index, Watchlist& list)
{
    std::map<std::string_view, std::int32_t> uses;
    for (std::size_t i = 0; i < list.rows.size(); ++i) {
        if (list.rows[i].kind == Kind::Actv)
            uses.try_emplace(index.key(list.rows[i].tensor).name, static_cast<std::int32_t>(i));
    }
    for (Watched& row : list.rows) {
        if (row.kind != Kind::GradReduced && row.kind != Kind::GradUnreduced && !isParameter(row.kind))
            continue;
        const std::string_view name = index.key(row.tensor).name;
        const auto use = uses.find(name.substr(0, std::min(name.rfind('.'), name.size())));
        row.use = use == uses.end() ? -1 : use->second;
    }
}

}

std::vector<Watchlist> watchlistsOf(const store::Catalog& catalog)
{
    const std::map<std::string, Visit> visits = visitsOf(*catalog.rows);
    std::map<SeriesId, const store::SeriesInfo*> series;
    for (const store::SeriesInfo& info : catalog.series)
        series.emplace(info.id, &info);
    std::map<SourceId, Watchlist> lists;
    for (const store::SourceInfo& source : catalog.sources)
        lists[source.id] = { source.id, source.rank, {}, {} };
    std::map<std::tuple<SourceId, Kind, std::string>, std::int32_t> rollups;
    std::map<std::pair<SourceId, Phase>, std::int32_t> places;
    const series::RowIndex& index = *catalog.rows;
    for (const series::RowIndex::Row& row : index.rows()) {
        const Stat stat = statOf(row);
        if (stat == Stat::Unspecified)
            continue;
        const series::SeriesKey& key = index.key(row);
        if (isUnwritten(row.kind, key))
            continue;
        // A row goes over all attempts: each has its own.
        std::map<SourceId, series::RowAttempts> attempts;
        std::map<SourceId, DType> types;
        for (const SeriesId id : row.attempts.series) {
            const auto known = series.find(id);
            if (known == series.end())
                continue;
            attempts[known->second->source].series.push_back(id);
            types[known->second->source] = known->second->desc->dtype;
        }
        for (auto& [source, ids] : attempts) {
            Watchlist& list = lists[source];
            list.source = source;
            list.rank = row.rank;
            Watched watched { .kind = row.kind, .tensor = row.tensor, .stat = stat, .attempts = std::move(ids) };
            if (row.kind == Kind::Scalar)
                watched.role = scalarRoleOf(key.name);
            watched.phase = phaseIn(row.kind, watched.role);
            const std::int32_t next = places[{ source, watched.phase }]++;
            watched.place = isBackward(row.kind) ? -next : next;
            if (const auto visit = visits.find(key.name); visit != visits.end() && isOfVisit(row.kind))
                watched.place = visit->second.place(row.kind, key.slot.role);
            watched.isMatrix = catalog.series[row.newest].desc->shape.size() >= 2;
            if (watched.role == ScalarRole::GradNorm) // it is made of all the others
                watched.place = std::numeric_limits<std::int32_t>::max();
            else if (row.kind == Kind::Scalar) // it was set before anything of its phase
                watched.place -= std::numeric_limits<std::int32_t>::max();
            watched.numel = catalog.series[row.newest].desc->numel;
            if (row.kind == Kind::ExpAvgSq && row.answers(Stat::Mean))
                watched.extra = Stat::Mean;
            if (row.kind == Kind::Actv && key.slot.role == Role::Output && row.answers(Stat::Zeros))
                watched.extra = Stat::Zeros;
            if (row.kind == Kind::Attention && row.answers(Stat::MaxLogit))
                watched.extra = Stat::MaxLogit;
            if (row.answers(Stat::AbsMax))
                watched.limit = limitOf(types[source]);
            const bool isJudgedAlone = watched.role == ScalarRole::Loss || watched.role == ScalarRole::GradNorm
                || watched.role == ScalarRole::ComputeTime;
            if (isJudgedAlone || (stat == Stat::Norm && isRolledUp(row.kind, key))) {
                const std::string block = isJudgedAlone ? key.name : blockOf(key.name);
                const auto [known, isNew]
                    = rollups.try_emplace({ source, row.kind, block }, static_cast<std::int32_t>(list.rollups.size()));
                if (isNew)
                    list.rollups.push_back({ row.kind, block, 0, watched.role });
                watched.rollup = known->second;
                ++list.rollups[static_cast<std::size_t>(known->second)].members;
            }
            list.rows.push_back(std::move(watched));
        }
    }
    std::vector<Watchlist> all;
    all.reserve(lists.size());
    for (auto& [source, list] : lists) {
        noteUses(index, list);
        all.push_back(std::move(list));
    }
    return all;
}

}
