// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <set>
#include <vector>

#include <QString>

#include <telltale/series/query.h>
#include <telltale/store/catalog.h>

#include "viewstate.h"

namespace telltale::views {

/// One line of a heat map or one curve: a tensor of one kind and rank over all attempts of the run.
struct Row {
    ModuleKey key;
    Kind kind = Kind::Unspecified;
    Rank rank;
    QString label; ///< "7.attn.qkv", with the slot where a name has several
    QString group; ///< "layers.7"; rows of a group stand together
    series::RowAttempts attempts; ///< oldest first
    QString fullName() const;
    bool isAxis() const; ///< what the axes of time and samples are made of, and no metric
};

struct RowWish {
    Kind kind = Kind::Unspecified;
    std::optional<Rank> rank; ///< every rank when empty
    QString filter; ///< as NamePattern
    std::vector<ModuleKey> only; ///< when not empty: these alone, in this order
    std::optional<Stat> stat = std::nullopt; ///< only series that have it
};

/// Rows in model order (call order of the newest attempt; what only older attempts had follows). Thread: any.
std::vector<Row> buildRows(const store::Catalog& catalog, const RowWish& wish);
/// Groups whose series have a statistic; absmax follows from min and max.
std::set<GroupId> groupsWith(const store::Catalog& catalog, Stat stat);
/// Ranks that have series of a kind, ascending.
std::vector<Rank> ranksOf(const store::Catalog& catalog, Kind kind);
/// Kinds that the run has, in the order of their numbers.
std::vector<Kind> kindsOf(const store::Catalog& catalog);
/// Statistics that series of a kind have, the derived absmax among them, without the counts of non-finite elements.
std::vector<Stat> statsOf(const store::Catalog& catalog, Kind kind);
/// "layers.7" of "layers.7.attn.qkv", "embed" of "embed.weight".
QString groupOf(const QString& name);
/// "7.attn.qkv" of "layers.7.attn.qkv".
QString shortNameOf(const QString& name);

}
