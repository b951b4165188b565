// SPDX-License-Identifier: GPL-3.0-or-later
#include "rowlist.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <telltale/core/blockname.h>
#include <telltale/core/histogram.h>
#include <telltale/core/namepattern.h>
#include <telltale/core/numberformats.h>
#include <telltale/items/shownname.h>
#include <telltale/store/rowsof.h>

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
    const series::SeriesKey* first = nullptr;
    const series::SeriesKey* last = nullptr;
    bool hasSlots = false;
    bool hasDefinitions = false; ///< of one slot
    bool hasMicroSteps = false;

    void add(const series::SeriesKey& key)
    {
        first = first ? first : &key;
        last = last ? last : &key;
        hasSlots = hasSlots || key.slot != first->slot;
        hasMicroSteps = hasMicroSteps || key.microStep != first->microStep;
        for (const series::SeriesKey* other : { first, last })
            hasDefinitions = hasDefinitions || (key.slot == other->slot && key.definition != other->definition);
        last = &key;
    }
};

/// What stands before the first number of a name says nothing where it is the same in all names of a list.
class Stems {
public:
    void add(const QString& name)
    {
        const qsizetype begin = firstNumber(name).first;
        if (begin <= 0)
            return;
        m_whole.insert(name.left(begin));
        m_last.insert(name.mid(lastPart(name, begin), begin - lastPart(name, begin)));
    }
    QString shortName(const QString& name) const
    {
        const qsizetype begin = firstNumber(name).first;
        if (begin <= 0 || m_whole.size() < 2)
            return shortNameOf(name);
        return m_last.size() == m_whole.size() ? name.mid(lastPart(name, begin)) : name;
    }

private:
    static qsizetype lastPart(const QString& name, qsizetype begin) { return name.lastIndexOf(u'.', begin - 2) + 1; }

    std::set<QString> m_whole; ///< "encoder.layers."
    std::set<QString> m_last; ///< "layers."
};

QString label(const series::SeriesKey& key, const QString& shortName, const Variants& variants)
{
    QString text = shortName;
    if (variants.hasSlots && key.slot.hasText())
        text += QLatin1Char(' ') + items::shownSlot(key.slot);
    if (variants.hasDefinitions && !key.definition.empty())
        text += QLatin1Char(' ') + QString::fromStdString(key.definition);
    return text;
}

ModuleKey keyOf(const series::SeriesKey& key)
{
    return { QString::fromStdString(key.name), key.slot };
}

}

QString Row::variant() const
{
    return withMicro(bin.isEmpty() ? items::shownSlot(key.slot) : bin).trimmed();
}

QString Row::fullName() const
{
    return (items::shownName(key.name) + u' ' + variant()).trimmed();
}

bool Row::isAxis() const
{
    return kind == Kind::Scalar && key.name.startsWith(QLatin1String("telltale."));
}

QString microText(int microStep, bool hasOthers)
{
    return microStep > 0 || (microStep == 0 && hasOthers) ? QStringLiteral("µ%1").arg(microStep) : QString();
}

QString groupOf(const QString& name)
{
    return QString::fromStdString(blockOf(name.toStdString()));
}

QString shortNameOf(const QString& name)
{
    const auto [begin, end] = firstNumber(name);
    if (begin <= 0)
        return name;
    // A number alone is no name.
    return name.mid(end < name.size() ? begin : name.lastIndexOf(u'.', begin - 2) + 1);
}

std::vector<Row> buildRows(const store::Catalog& catalog, const RowWish& wish)
{
    const series::RowIndex& index = store::rowsOf(catalog);
    struct Found {
        const series::RowIndex::Row* row = nullptr;
        int bin = -1; ///< all
    };
    std::vector<Found> found;
    std::vector<Variants> variants(index.names().size()); // by the name's place
    const auto variantsOf
        = [&](const series::RowIndex::Row& row) -> Variants& { return variants[index.placeOfName(row.tensor)]; };
    if (wish.only.empty()) {
        const std::vector<bool> chosen = index.matching(NamePattern(wish.filter.toStdString()));
        std::vector<bool> seen(index.tensorCount());
        for (const series::RowIndex::Row* row : index.select(wish.kind, wish.rank, wish.stat)) {
            if (!wish.stat && row->answers(Stat::Hist))
                continue;
            if (!seen[row->tensor])
                variantsOf(*row).add(index.key(*row));
            seen[row->tensor] = true;
            if (chosen[row->tensor])
                found.push_back({ row });
        }
    }
    for (const ModuleKey& key : wish.only) {
        Slot slot = key.slot;
        const int bin = std::exchange(slot.bin, -1);
        for (const series::RowIndex::Row* row : index.named(key.name.toStdString())) {
            if (row->kind != wish.kind || (wish.rank && row->rank != *wish.rank)
                || (wish.stat ? !row->answers(*wish.stat) : row->answers(Stat::Hist)))
                continue;
            variantsOf(*row).add(index.key(*row));
            if (index.key(*row).slot == slot)
                found.push_back({ row, bin });
        }
    }
    std::ranges::stable_sort(found, {}, [&](const Found& one) { return std::max(index.key(*one.row).microStep, 0); });

    Stems stems;
    for (const Found& one : found)
        stems.add(QString::fromStdString(index.key(*one.row).name));
    std::vector<Row> rows;
    rows.reserve(found.size());
    for (const auto& [from, bin] : found) {
        const series::SeriesKey& key = index.key(*from);
        Row row;
        row.key = keyOf(key);
        row.kind = from->kind;
        row.rank = from->rank;
        row.label = label(key, items::shownName(stems.shortName(row.key.name)), variantsOf(*from));
        row.microStep = key.microStep;
        row.micro = microText(key.microStep, variantsOf(*from).hasMicroSteps);
        row.group = items::shownName(groupOf(row.key.name));
        if (key.microStep > 0)
            row.group = row.withMicro(row.group);
        row.attempts = from->attempts;
        row.tensor = from->tensor;
        const auto edges = wish.stat == Stat::Hist ? store::edgesOf(catalog, *from) : nullptr;
        if (!edges) {
            row.label = row.withMicro(row.label);
            rows.push_back(std::move(row));
            continue;
        }
        for (int i = 0; i + 1 < static_cast<int>(edges->size()); ++i) {
            if (bin >= 0 && bin != i)
                continue;
            Row& one = rows.emplace_back(row);
            one.bin = QString::fromStdString(binText(*edges, static_cast<std::size_t>(i)));
            one.label = one.withMicro(one.label + QLatin1Char(' ') + one.bin);
            one.key.slot.bin = one.attempts.bin = i;
        }
    }
    return rows;
}

const series::RowIndex::Row* firstRow(
    const store::Catalog& catalog, Kind kind, Rank rank, const ModuleKey& key, std::optional<Stat> stat)
{
    for (const series::RowIndex::Row* row : rankRows(catalog, kind, key, stat)) {
        if (row->rank == rank)
            return row;
    }
    return nullptr;
}

std::vector<const series::RowIndex::Row*> rankRows(
    const store::Catalog& catalog, Kind kind, const ModuleKey& key, std::optional<Stat> stat)
{
    const series::RowIndex& index = store::rowsOf(catalog);
    Slot slot = key.slot;
    slot.bin = -1;
    std::map<Rank, const series::RowIndex::Row*> first;
    for (const series::RowIndex::Row* row : index.named(key.name.toStdString())) {
        if (row->kind == kind && index.key(*row).slot == slot
            && (stat ? row->answers(*stat) : !row->answers(Stat::Hist)))
            first.try_emplace(row->rank, row);
    }
    std::vector<const series::RowIndex::Row*> rows;
    rows.reserve(first.size());
    for (const auto& [rank, row] : first)
        rows.push_back(row);
    return rows;
}

ModuleKeys keysOf(const store::Catalog& catalog, Kind kind, const QString& name)
{
    const series::RowIndex& index = store::rowsOf(catalog);
    const series::RowIndex::Rows rows = index.named(name.toStdString());
    ModuleKeys found;
    if (rows.empty())
        return found;
    const bool hasKind = std::any_of(rows.begin(), rows.end(), [kind](const auto* row) { return row->kind == kind; });
    found.kind = hasKind ? kind : rows.front()->kind;
    for (const series::RowIndex::Row* row : rows) {
        const ModuleKey key = keyOf(index.key(*row));
        if (row->kind == found.kind && std::find(found.keys.begin(), found.keys.end(), key) == found.keys.end())
            found.keys.push_back(key);
    }
    return found;
}

bool hasKind(const store::Catalog& catalog, Kind kind, const ModuleKey& key)
{
    const ModuleKeys found = keysOf(catalog, kind, key.name);
    return (found.kind == kind || found.kind == Kind::Scalar)
        && std::find(found.keys.begin(), found.keys.end(), key) != found.keys.end();
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
    std::uint32_t histograms = 0;
    for (const store::GroupInfo& group : catalog.groups) {
        if (group.kind != kind)
            continue;
        histograms |= group.edges ? store::statBits(group) : 0;
        for (const Stat stat : group.stats) {
            if (stat != Stat::PosInfs && stat != Stat::NegInfs && !isIdentity(stat))
                stats.insert(stat);
        }
    }
    if (stats.contains(Stat::Min) && stats.contains(Stat::Max))
        stats.insert(Stat::AbsMax);
    if (stats.size() > 1) // rows of bins tell nothing beside a kind's statistics: Distributions draws them
        stats.erase(Stat::Hist);
    for (const StatFacts& facts : kStatTable) {
        if (isFormatShare(facts.stat) && series::answers(histograms, facts.stat))
            stats.insert(facts.stat); // their numbers are the highest: they come last
    }
    return { stats.begin(), stats.end() };
}

}
