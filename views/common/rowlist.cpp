// SPDX-License-Identifier: GPL-3.0-or-later
#include "rowlist.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <telltale/core/namepattern.h>
#include <telltale/store/runindex.h>

namespace telltale::views {

namespace {

/// Start and end of the first component that is a number; start < 0 when there is none.
std::pair<qsizetype, qsizetype> firstNumber(const QString& name)
{
    qsizetype begin = 0;
    while (begin <= name.size()) {
        qsizetype end = name.indexOf(QLatin1Char('.'), begin);
        if (end < 0)
            end = name.size();
        const bool number
            = end > begin && std::all_of(name.begin() + begin, name.begin() + end, [](QChar c) { return c.isDigit(); });
        if (number)
            return { begin, end };
        begin = end + 1;
    }
    return { -1, -1 };
}

/// What of slot and definition a label needs beside the name: what tells rows of one name apart, and nothing else.
struct Variants {
    std::set<std::string> slots;
    std::set<std::string> definitions;
};

void addVariant(Variants& variants, const store::SeriesInfo& info)
{
    variants.slots.insert(info.slot);
    variants.definitions.insert(info.definition);
}

QString label(const store::SeriesInfo& info, const QString& name, const Variants& variants)
{
    QString text = shortNameOf(name);
    if (variants.slots.size() > 1 && !info.slot.empty())
        text += QLatin1Char(' ') + QString::fromStdString(info.slot);
    if (info.microStep >= 0)
        text += QStringLiteral(" µ%1").arg(info.microStep);
    if (variants.definitions.size() > 1 && !info.definition.empty())
        text += QLatin1Char(' ') + QString::fromStdString(info.definition);
    return text;
}

}

QString Row::fullName() const
{
    return key.slot.isEmpty() ? key.name : key.name + QLatin1Char(' ') + key.slot;
}

bool Row::isAxis() const
{
    return kind == Kind::Scalar && key.name.startsWith(QLatin1String("telltale."));
}

QString groupOf(const QString& name)
{
    const auto [begin, end] = firstNumber(name);
    return begin >= 0 ? name.left(end) : name.section(QLatin1Char('.'), 0, 0);
}

QString shortNameOf(const QString& name)
{
    const auto [begin, end] = firstNumber(name);
    return begin > 0 ? name.mid(begin) : name;
}

std::vector<Row> buildRows(const store::Catalog& catalog, const RowWish& wish)
{
    struct Source {
        int attempt;
        Rank rank;
    };
    std::unordered_map<SourceId, Source> sources;
    for (const store::SourceInfo& source : catalog.sources)
        sources.emplace(source.id, Source { source.attempt, source.rank });

    struct Found {
        const store::SeriesInfo* info;
        Source source;
    };
    std::vector<Found> found;
    const std::set<GroupId> having = wish.stat ? groupsWith(catalog, *wish.stat) : std::set<GroupId>();
    for (const store::SeriesInfo& info : catalog.series) {
        const auto source = sources.find(info.source);
        if (info.kind != wish.kind || source == sources.end() || (wish.rank && source->second.rank != *wish.rank)
            || (wish.stat && !having.contains(info.group)))
            continue;
        found.push_back({ &info, source->second });
    }
    // Newest attempt first decides the order; within it the call order that the catalog has.
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
        return std::tuple(-a.source.attempt, a.source.rank) < std::tuple(-b.source.attempt, b.source.rank);
    });

    using Identity = std::tuple<std::string, std::string, int, int, std::string, Rank>;
    std::map<Identity, std::size_t> known;
    std::map<std::string, Variants> variantsOf;
    for (const Found& f : found)
        addVariant(variantsOf[f.info->name], *f.info);

    const NamePattern filter(wish.filter.toStdString());
    std::vector<Row> rows;
    for (const Found& f : found) {
        const Identity identity { f.info->name, f.info->slot, f.info->vppStage, f.info->microStep, f.info->definition,
            f.source.rank };
        const auto [entry, isNew] = known.try_emplace(identity, rows.size());
        if (!isNew) {
            if (entry->second != SIZE_MAX)
                rows[entry->second].attempts.insert(rows[entry->second].attempts.begin(), f.info->id);
            continue;
        }
        const ModuleKey key { QString::fromStdString(f.info->name), QString::fromStdString(f.info->slot) };
        const bool wanted = wish.only.empty()
            ? filter.matches(f.info->slot.empty() ? f.info->name : f.info->name + '.' + f.info->slot)
            : std::find(wish.only.begin(), wish.only.end(), key) != wish.only.end();
        if (!wanted) {
            entry->second = SIZE_MAX;
            continue;
        }
        Row row;
        row.key = key;
        row.kind = wish.kind;
        row.rank = f.source.rank;
        row.label = label(*f.info, key.name, variantsOf[f.info->name]);
        row.group = groupOf(key.name);
        row.attempts.push_back(f.info->id);
        rows.push_back(std::move(row));
    }
    if (!wish.only.empty()) {
        std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
            return std::find(wish.only.begin(), wish.only.end(), a.key)
                < std::find(wish.only.begin(), wish.only.end(), b.key);
        });
    }
    return rows;
}

std::set<GroupId> groupsWith(const store::Catalog& catalog, Stat stat)
{
    std::set<GroupId> groups;
    for (const store::GroupInfo& group : catalog.groups) {
        if (store::answers(group.stats, stat))
            groups.insert(group.id);
    }
    return groups;
}

std::vector<Rank> ranksOf(const store::Catalog& catalog, Kind kind)
{
    std::set<SourceId> having;
    for (const store::GroupInfo& group : catalog.groups) {
        if (group.kind == kind)
            having.insert(group.source);
    }
    std::set<Rank> ranks;
    for (const store::SourceInfo& source : catalog.sources) {
        if (having.contains(source.id))
            ranks.insert(source.rank);
    }
    return { ranks.begin(), ranks.end() };
}

std::vector<Kind> kindsOf(const store::Catalog& catalog)
{
    std::set<Kind> kinds;
    for (const store::GroupInfo& group : catalog.groups)
        kinds.insert(group.kind);
    return { kinds.begin(), kinds.end() };
}

std::vector<Stat> statsOf(const store::Catalog& catalog, Kind kind)
{
    std::set<Stat> stats;
    for (const store::GroupInfo& group : catalog.groups) {
        if (group.kind != kind)
            continue;
        for (const Stat stat : group.stats) {
            if (stat != Stat::PosInfs && stat != Stat::NegInfs)
                stats.insert(stat);
        }
    }
    if (stats.contains(Stat::Min) && stats.contains(Stat::Max))
        stats.insert(Stat::AbsMax);
    return { stats.begin(), stats.end() };
}

}
