// SPDX-License-Identifier: GPL-3.0-or-later
#include "moduletree.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace telltale::items {

ModuleTree::ModuleTree()
{
    m_nodes.emplace_back().shown = true;
}

std::vector<ModuleTree::Insertion> ModuleTree::append(
    std::shared_ptr<const series::RowIndex> rows, std::size_t most, const NamePattern& pattern)
{
    m_rows = std::move(rows);
    std::vector<int> showing; // what comes to be shown: new nodes, and old ones that the filter hid
    const std::size_t end = std::min(m_rows->tensorCount(), m_nodeOf.size() + most);
    while (m_nodeOf.size() < end) {
        const auto tensor = static_cast<std::uint32_t>(m_nodeOf.size());
        const bool isModule = !m_rows->isScalar(tensor) && !m_rows->key(tensor).name.empty();
        const int index = isModule ? add(m_rows->placeOfName(tensor)) : 0;
        m_nodeOf.push_back(index);
        if (index == 0)
            continue;
        Node& node = m_nodes[static_cast<std::size_t>(index)];
        m_modules += node.hasSeries ? 0 : 1;
        node.hasSeries = true;
        if (node.isMatch || !m_rows->chooses(pattern, tensor))
            continue;
        node.isMatch = true;
        ++m_matches;
        for (int up = index; !m_nodes[static_cast<std::size_t>(up)].shown;) {
            Node& shown = m_nodes[static_cast<std::size_t>(up)];
            shown.shown = true;
            showing.push_back(std::exchange(up, shown.parent));
        }
    }

    std::sort(showing.begin(), showing.end());
    std::vector<std::pair<int, int>> told; // parent and node
    for (const int index : showing) {
        Node& node = m_nodes[static_cast<std::size_t>(index)];
        if (!std::binary_search(showing.begin(), showing.end(), node.parent)) {
            told.emplace_back(node.parent, index);
            continue;
        }
        // Below what is not shown yet nobody has to be told.
        auto& siblings = m_nodes[static_cast<std::size_t>(node.parent)].shownChildren;
        node.row = static_cast<int>(siblings.size());
        siblings.push_back(index);
    }
    std::sort(told.begin(), told.end());
    std::vector<Insertion> insertions;
    int earlier = 0; // of the same parent
    for (const auto& [parent, index] : told) {
        earlier = insertions.empty() || insertions.back().parent != parent ? 0 : earlier + 1;
        const auto& there = m_nodes[static_cast<std::size_t>(parent)].shownChildren;
        // Among siblings in another order than they came in, at the end.
        const auto before
            = (m_order.empty() ? std::lower_bound(there.begin(), there.end(), index) : there.end()) - there.begin();
        const int row = static_cast<int>(before) + earlier;
        const Insertion* const last = insertions.empty() ? nullptr : &insertions.back();
        if (!last || last->parent != parent || last->row + static_cast<int>(last->nodes.size()) != row)
            insertions.push_back({ parent, row, {} });
        insertions.back().nodes.push_back(index);
    }
    return insertions;
}

void ModuleTree::insert(const Insertion& insertion)
{
    auto& rows = m_nodes[static_cast<std::size_t>(insertion.parent)].shownChildren;
    rows.insert(rows.begin() + insertion.row, insertion.nodes.begin(), insertion.nodes.end());
    for (std::size_t row = static_cast<std::size_t>(insertion.row); row < rows.size(); ++row)
        m_nodes[static_cast<std::size_t>(rows[row])].row = static_cast<int>(row);
}

int ModuleTree::add(std::uint32_t place)
{
    if (m_byPlace.size() <= place) {
        m_byPlace.resize(m_rows->names().size());
        if (m_nodes.size() == 1) // later the vector grows by itself, so that what is added costs no more than that
            m_nodes.reserve(m_byPlace.size() + 1);
    }
    if (m_byPlace[place] != 0)
        return m_byPlace[place];
    const std::uint32_t above = m_rows->above(place);
    const int parent = above == place ? 0 : add(above);
    const int index = size();
    m_byPlace[place] = index;
    Node& node = m_nodes.emplace_back();
    node.parent = parent;
    node.place = place;
    Node& whole = m_nodes[static_cast<std::size_t>(parent)];
    (whole.isGroup() ? m_nodes[static_cast<std::size_t>(whole.lastChild)].nextSibling : whole.firstChild) = index;
    whole.lastChild = index;
    const std::string_view name = m_rows->names().at(place);
    if (!QByteArrayView(name.data(), static_cast<qsizetype>(name.size())).isValidUtf8())
        m_unreadable.insert(path(index), index);
    return index;
}

int ModuleTree::find(const QString& path) const
{
    if (path.isEmpty())
        return 0;
    const std::uint32_t place = m_rows ? m_rows->placeOf(path.toStdString()) : UINT32_MAX;
    const int node = place < m_byPlace.size() ? m_byPlace[place] : 0;
    return node != 0 ? node : m_unreadable.value(path, -1);
}

QString ModuleTree::path(int index) const
{
    if (index == 0)
        return {};
    const std::string_view name = m_rows->names().at(node(index).place);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QString ModuleTree::segment(int index) const
{
    const int parent = node(index).parent;
    const QString whole = path(index);
    return parent == 0 ? whole : whole.mid(path(parent).size() + 1);
}

WorstValue ModuleTree::worst(int index) const
{
    const std::uint32_t place = node(index).place;
    return index > 0 && place < m_worst.size() ? m_worst[place] : WorstValue();
}

std::vector<int> ModuleTree::matching(const NamePattern& pattern, std::size_t most) const
{
    std::vector<int> found;
    const std::vector<bool> hits = m_rows ? pattern.matchEach(m_rows->names()) : std::vector<bool>();
    for (int i = 1; i < size() && found.size() < most; ++i) {
        if (hits[node(i).place])
            found.push_back(i);
    }
    return found;
}

void ModuleTree::filter(const NamePattern& pattern)
{
    const std::vector<bool> chosen = m_rows ? m_rows->matching(pattern) : std::vector<bool>();
    for (Node& node : m_nodes)
        node.shown = node.isMatch = false;
    for (std::size_t i = 0; i < m_nodeOf.size(); ++i) {
        if (Node& node = m_nodes[static_cast<std::size_t>(m_nodeOf[i])]; chosen[i])
            node.shown = node.isMatch = true;
    }
    m_nodes.front().isMatch = false; // where scalars are, which are not in the tree
    // Children come after their parents, so one pass backwards reaches every ancestor.
    for (std::size_t i = m_nodes.size(); i-- > 1;) {
        if (m_nodes[i].shown)
            m_nodes[static_cast<std::size_t>(m_nodes[i].parent)].shown = true;
    }
    m_nodes.front().shown = true;
    layOut();
}

void ModuleTree::layOut()
{
    m_matches = 0;
    for (int index = 0; index < size(); ++index) {
        Node& node = m_nodes[static_cast<std::size_t>(index)];
        node.shownChildren.clear();
        m_matches += node.isMatch ? 1 : 0;
        if (!node.shown || index == 0)
            continue;
        auto& siblings = m_nodes[static_cast<std::size_t>(node.parent)].shownChildren;
        node.row = static_cast<int>(siblings.size());
        siblings.push_back(index);
    }
    for (std::size_t parent = 0; (m_isByWorst || !m_order.empty()) && parent < m_nodes.size(); ++parent) {
        std::vector<int>& rows = m_nodes[parent].shownChildren;
        std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return placeOf(a) < placeOf(b); });
        const auto loudness = [this](int index) {
            const WorstValue value = worst(index);
            return std::tuple(value.known, value.isNonFinite() && value.isSource, value.isNonFinite(), value.deviation);
        };
        if (m_isByWorst)
            std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return loudness(a) > loudness(b); });
        for (std::size_t row = 0; row < rows.size(); ++row)
            m_nodes[static_cast<std::size_t>(rows[row])].row = static_cast<int>(row);
    }
}

void ModuleTree::sortByWorst(bool on)
{
    m_isByWorst = on;
    layOut();
}

bool ModuleTree::wantsOrder()
{
    if (!m_rows || m_nodes.size() * 4 < m_wanted.size() * 5)
        return false;
    m_wanted.assign(m_nodes.size(), UINT32_MAX);
    std::uint32_t order = 0;
    for (const std::uint32_t place : m_rows->namesInModelOrder()) {
        // A module stands where the first of its own does.
        for (int up = place < m_byPlace.size() ? m_byPlace[place] : 0;
             up > 0 && m_wanted[static_cast<std::size_t>(up)] == UINT32_MAX; up = node(up).parent)
            m_wanted[static_cast<std::size_t>(up)] = order;
        ++order;
    }
    for (int index = 1; index < size(); ++index) {
        const int next = node(index).nextSibling;
        const bool isLater
            = next > 0 && m_wanted[static_cast<std::size_t>(index)] > m_wanted[static_cast<std::size_t>(next)];
        if (isLater && placeOf(index) <= placeOf(next))
            return true;
    }
    return false;
}

std::uint32_t ModuleTree::placeOf(int index) const
{
    return static_cast<std::size_t>(index) < m_order.size() ? m_order[static_cast<std::size_t>(index)] : UINT32_MAX;
}

void ModuleTree::arrange()
{
    m_order = m_wanted;
    layOut();
}

std::vector<QString> ModuleTree::namesBelow(int index) const
{
    std::vector<QString> names;
    for (int at = index;;) {
        if (node(at).hasSeries)
            names.push_back(path(at));
        if (node(at).isGroup()) {
            at = node(at).firstChild;
            continue;
        }
        while (at != index && node(at).nextSibling < 0)
            at = node(at).parent;
        if (at == index)
            return names;
        at = node(at).nextSibling;
    }
}

}
