// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <QHash>
#include <QMetaType>
#include <QString>

#include <telltale/analysis/worst.h>
#include <telltale/core/namepattern.h>
#include <telltale/series/rowindex.h>

namespace telltale::items {

using analysis::WorstValue;

/// What agents call the whole model, where it has tensors of its own.
inline constexpr QLatin1String kWholeModel("(model)");

/// The model's own hierarchy, from the dotted names of a run's tensors, in model order. Flat arrays: node 0 is the
/// root, a parent comes before its children. It grows with the run's tensors, which are only ever added to.
/// Thread: any (a value).
class ModuleTree {
public:
    struct Node {
        int parent = -1;
        int row = 0; ///< among its parent's shown children
        std::uint32_t place = 0; ///< of its name in the index
        bool hasSeries = false; ///< some tensor has exactly this name
        bool isMatch = false; ///< the filter lets such a tensor through
        bool shown = false; ///< and what leads to it
        int firstChild = -1;
        int lastChild = -1;
        int nextSibling = -1; ///< of the same parent, in model order
        std::vector<int> shownChildren;

        bool isGroup() const { return firstChild >= 0; }
    };

    /// Rows that come to be shown, next to each other below a parent that is shown itself.
    struct Insertion {
        int parent = 0;
        int row = 0; ///< of the first, once the insertions before are done
        std::vector<int> nodes;
    };

    ModuleTree();

    /// Takes tensors of a newer index of the same run, at most so many: their modules, without scalars. Costs what is
    /// taken. Nothing of it shows before each insertion is done, in order.
    std::vector<Insertion> append(
        std::shared_ptr<const series::RowIndex> rows, std::size_t most, const NamePattern& pattern);
    void insert(const Insertion& insertion);
    /// It has all tensors of its index.
    bool isWhole() const { return !m_rows || m_nodeOf.size() == m_rows->tensorCount(); }
    bool has(const series::RowIndex& rows) const { return m_nodeOf.size() == rows.tensorCount(); }
    /// Whether it can grow into this index: not where that has lost tensors, as of a file that was damaged meanwhile.
    bool isPartOf(const series::RowIndex& rows) const { return m_nodeOf.size() <= rows.tensorCount(); }

    const Node& node(int index) const { return m_nodes[static_cast<std::size_t>(index)]; }
    int size() const { return static_cast<int>(m_nodes.size()); }
    int find(const QString& path) const; ///< -1 when there is none
    QString path(int index) const; ///< "layers.7.attn.qkv"
    QString segment(int index) const; ///< "qkv"
    bool isWholeModel(int index) const { return path(index) == kWholeModel; }
    WorstValue worst(int index) const; ///< of the subtree
    int moduleCount() const { return m_modules; } ///< nodes that have series
    int matchCount() const { return m_matches; } ///< of them, those that the filter lets through

    /// The first nodes whose paths match.
    std::vector<int> matching(const NamePattern& pattern, std::size_t most) const;
    /// Shows the modules whose rows the pattern chooses, as in every view, and what leads to them. Measured: under
    /// 50 ms for 100 k names.
    void filter(const NamePattern& pattern);
    void setWorst(std::vector<WorstValue> worst) { m_worst = std::move(worst); } ///< as analysis::worstOfNames
    /// Siblings by their worst values, the worst first, else in model order. It grows in model order alone.
    void sortByWorst(bool on);
    /// Whether siblings, which stand as they came, should stand otherwise: a kind that is collected of a few modules
    /// may have come first. Looks only if it has grown by a quarter since it last did; arrange() does it.
    bool wantsOrder();
    void arrange();
    /// Every name with series at or below a node, in model order.
    std::vector<QString> namesBelow(int index) const;

private:
    int add(std::uint32_t place);
    std::uint32_t placeOf(int index) const; ///< in m_order
    void layOut();

    bool m_isByWorst = false;
    std::vector<std::uint32_t> m_wanted; ///< by node: its place in the model; what wantsOrder() found
    std::vector<std::uint32_t> m_order; ///< the same once arranged; empty, or a node beyond it: as it came
    std::vector<Node> m_nodes;
    std::shared_ptr<const series::RowIndex> m_rows; ///< null when empty
    std::vector<int> m_nodeOf; ///< of those tensors of m_rows that were taken; 0 = not in the tree
    std::vector<int> m_byPlace; ///< of the index's names, as far as they are needed; 0 = not in the tree
    QHash<QString, int> m_unreadable; ///< names that are no UTF-8, as they are shown
    std::vector<WorstValue> m_worst; ///< by place
    int m_modules = 0;
    int m_matches = 0;
};

}

Q_DECLARE_METATYPE(telltale::analysis::WorstValue)
