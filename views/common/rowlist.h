// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <QString>

#include <telltale/series/rowindex.h>
#include <telltale/store/catalog.h>

#include "viewstate.h"

namespace telltale::views {

/// One line of a heat map or one curve: a tensor of one kind and rank over all attempts of the run, or a bin of its
/// histogram.
struct Row {
    ModuleKey key;
    Kind kind = Kind::Unspecified;
    Rank rank;
    QString label; ///< "7.attn.qkv", with the slot where a name has several
    QString group; ///< "layers.7"; rows of a group stand together
    series::RowAttempts attempts; ///< oldest first
    std::uint32_t tensor = 0; ///< as series::RowIndex::Row: the same on other ranks of the run
    QString bin; ///< "[-0.5, 0)" where it is one
    int microStep = -1; ///< as series::SeriesKey
    QString micro; ///< as microText: label, group and full name end with it
    QString withMicro(const QString& text) const { return micro.isEmpty() ? text : text + u' ' + micro; }
    QString variant() const; ///< which of its module's it is, as people read it: "input µ1"
    QString fullName() const; ///< as people read it
    QString slotText() const { return bin.isEmpty() ? key.slotText() : bin; } ///< the run's own
    bool isAxis() const; ///< what the axes of time and samples are made of, and no metric
};

struct RowWish {
    Kind kind = Kind::Unspecified;
    std::optional<Rank> rank; ///< every rank when empty
    QString filter; ///< as NamePattern
    std::vector<ModuleKey> only; ///< when not empty: these alone, in this order
    std::optional<Stat> stat = std::nullopt; ///< only series that have it; when empty: all but histograms
};

/// Rows in model order (call order of the newest attempt; what only older attempts had follows), those of each later
/// micro step below all of the one before it. Thread: any.
std::vector<Row> buildRows(const store::Catalog& catalog, const RowWish& wish);
/// "µ1": what tells a series of a later micro step from that of the first, which has none. "µ0" only where others of
/// its name are of no or another micro step.
QString microText(int microStep, bool hasOthers);
/// The first row of a tensor: its other micro steps and definitions come after it. Null where there is none. Of those
/// that have a statistic; when empty: of all but histograms.
const series::RowIndex::Row* firstRow(
    const store::Catalog& catalog, Kind kind, Rank rank, const ModuleKey& key, std::optional<Stat> stat = std::nullopt);
/// The first row of a tensor on every rank that has it, by rank.
std::vector<const series::RowIndex::Row*> rankRows(
    const store::Catalog& catalog, Kind kind, const ModuleKey& key, std::optional<Stat> stat = std::nullopt);
/// What of a module can be selected.
struct ModuleKeys {
    Kind kind = Kind::Unspecified;
    std::vector<ModuleKey> keys;
};
/// Slots of a module: of `kind` when it has that name, else of the first kind that has.
ModuleKeys keysOf(const store::Catalog& catalog, Kind kind, const QString& name);
/// Whether there is something of that kind, or a scalar, which is of none that is chosen.
bool hasKind(const store::Catalog& catalog, Kind kind, const ModuleKey& key);
/// Ranks that have series of a kind, ascending.
std::vector<Rank> ranksOf(const store::Catalog& catalog, Kind kind);
/// Kinds that the run has, in the order of their numbers.
std::vector<Kind> kindsOf(const store::Catalog& catalog);
/// Statistics that series of a kind have, and those that are derived of them, without the counts of Inf.
std::vector<Stat> statsOf(const store::Catalog& catalog, Kind kind);
/// "layers.7" of "layers.7.attn.qkv", "embed" of "embed.weight".
QString groupOf(const QString& name);
/// "7.attn.qkv" of "layers.7.attn.qkv".
QString shortNameOf(const QString& name);

}
