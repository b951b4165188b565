// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <QMetaType>
#include <QString>

#include <telltale/core/namepattern.h>
#include <telltale/series/query.h>
#include <telltale/store/catalog.h>

namespace telltale::items {

/// The worst that a subtree shows. Thread: any (a value).
struct WorstValue {
    bool known = false; ///< false: nothing measured, no bar
    double deviation = 0; ///< largest distance from the series' own median, in MADs; finite
    series::CellState nonFinite = series::CellState::Value; ///< NegInf, PosInf or NaN when one was seen
    bool isSource = false; ///< non-finite at the run's first non-finite step; the others came later
    Step step { -1 }; ///< where it is worst
    Rank rank { -1 }; ///< where it is worst, -1 where there is only one

    bool isNonFinite() const { return nonFinite >= series::CellState::NegInf; }
    /// The louder of both: source, then non-finite, then the larger deviation.
    static const WorstValue& worse(const WorstValue& a, const WorstValue& b);
};
using WorstByName = std::unordered_map<std::string, WorstValue>;

/// The model's own hierarchy, from the dotted names of a run's tensors, in model order. Flat arrays: node 0 is the
/// root, a parent comes before its children. Thread: any (a value).
class ModuleTree {
public:
    struct Node {
        int parent = -1;
        int row = 0; ///< among its parent's shown children
        QString segment; ///< "qkv"
        QString path; ///< "layers.7.attn.qkv"
        bool hasSeries = false; ///< some tensor has exactly this name
        bool shown = true;
        WorstValue worst; ///< of the subtree
        std::vector<int> children;
        std::vector<int> shownChildren;
    };

    ModuleTree();
    /// Scalars are not modules and are left out.
    explicit ModuleTree(const store::Catalog& catalog);

    const Node& node(int index) const { return m_nodes[static_cast<std::size_t>(index)]; }
    int size() const { return static_cast<int>(m_nodes.size()); }
    int find(const QString& path) const; ///< -1 when there is none
    int moduleCount() const { return m_modules; } ///< nodes that have series
    int shownCount() const { return m_shown; } ///< of them, those that the filter shows

    /// Which nodes' paths match.
    std::vector<bool> matching(const NamePattern& pattern) const { return pattern.matchEach(m_names); }
    /// Shows the nodes that match and what leads to them. Measured: under 50 ms for 100 k names.
    void filter(const NamePattern& pattern);
    void setWorst(const WorstByName& worst);
    /// Every name with series at or below a node, in model order.
    std::vector<QString> namesBelow(int index) const;

private:
    int add(const QString& path);
    void layOut();

    std::vector<Node> m_nodes;
    NamePattern::Names m_names; ///< of all nodes
    std::unordered_map<std::string, int> m_byPath;
    int m_modules = 0;
    int m_shown = 0;
};

}

Q_DECLARE_METATYPE(telltale::items::WorstValue)
