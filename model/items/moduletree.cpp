// SPDX-License-Identifier: GPL-3.0-or-later
#include "moduletree.h"

#include <algorithm>

namespace telltale::items {

ModuleTree::ModuleTree()
{
    m_nodes.emplace_back();
    m_byPath.emplace(std::string(), 0);
}

ModuleTree::ModuleTree(const store::Catalog& catalog)
    : ModuleTree()
{
    const std::string* previous = nullptr;
    for (const store::SeriesInfo& series : catalog.series) {
        if (series.kind == Kind::Scalar || series.name.empty() || (previous && *previous == series.name))
            continue;
        previous = &series.name;
        Node& node = m_nodes[static_cast<std::size_t>(add(QString::fromStdString(series.name)))];
        m_modules += node.hasSeries ? 0 : 1;
        node.hasSeries = true;
    }
    for (const Node& node : m_nodes)
        m_names.add(node.path.toStdString());
    m_rows = catalog.rows;
    m_nodeOf.resize(m_rows ? m_rows->tensorCount() : 0);
    for (std::size_t i = 0; m_rows && i < m_rows->rows().size(); ++i) {
        const series::RowIndex::Row& row = m_rows->rows()[i];
        if (row.kind == Kind::Scalar || m_nodeOf[row.tensor] != 0)
            continue;
        // As the tree has it: a name that is no UTF-8 stands there with other bytes.
        const auto node = m_byPath.find(QString::fromStdString(m_rows->key(row).name).toStdString());
        m_nodeOf[row.tensor] = node == m_byPath.end() ? 0 : node->second;
    }
    layOut();
}

int ModuleTree::add(const QString& path)
{
    const std::string key = path.toStdString();
    if (const auto it = m_byPath.find(key); it != m_byPath.end())
        return it->second;
    const auto dot = path.lastIndexOf(u'.');
    const int parent = dot > 0 ? add(path.left(dot)) : 0;
    const int index = size();
    Node& node = m_nodes.emplace_back();
    node.parent = parent;
    node.segment = dot > 0 ? path.mid(dot + 1) : path;
    node.path = path;
    m_nodes[static_cast<std::size_t>(parent)].children.push_back(index);
    m_byPath.emplace(key, index);
    return index;
}

int ModuleTree::find(const QString& path) const
{
    const auto it = m_byPath.find(path.toStdString());
    return it == m_byPath.end() ? -1 : it->second;
}

void ModuleTree::filter(const NamePattern& pattern)
{
    const std::vector<bool> chosen = m_rows ? m_rows->matching(pattern) : std::vector<bool>();
    for (Node& node : m_nodes)
        node.shown = false;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (chosen[i])
            m_nodes[static_cast<std::size_t>(m_nodeOf[i])].shown = true;
    }
    // Children come after their parents, so one pass backwards reaches every ancestor.
    for (std::size_t i = m_nodes.size(); i-- > 1;) {
        if (m_nodes[i].shown)
            m_nodes[static_cast<std::size_t>(m_nodes[i].parent)].shown = true;
    }
    layOut();
}

void ModuleTree::layOut()
{
    m_shown = 0;
    for (Node& node : m_nodes) {
        node.shownChildren.clear();
        m_shown += node.shown && node.hasSeries ? 1 : 0;
        for (const int child : node.children) {
            Node& below = m_nodes[static_cast<std::size_t>(child)];
            if (!below.shown)
                continue;
            below.row = static_cast<int>(node.shownChildren.size());
            node.shownChildren.push_back(child);
        }
    }
}

void ModuleTree::setWorst(const WorstByName& worst)
{
    for (Node& node : m_nodes) {
        const auto it = node.hasSeries ? worst.find(node.path.toStdString()) : worst.end();
        node.worst = it == worst.end() ? WorstValue() : it->second;
    }
    for (std::size_t i = m_nodes.size(); i-- > 1;) {
        Node& parent = m_nodes[static_cast<std::size_t>(m_nodes[i].parent)];
        parent.worst = WorstValue::worse(parent.worst, m_nodes[i].worst);
    }
}

std::vector<QString> ModuleTree::namesBelow(int index) const
{
    std::vector<QString> names;
    std::vector<int> open { index };
    while (!open.empty()) {
        const Node& here = node(open.back());
        open.pop_back();
        if (here.hasSeries)
            names.push_back(here.path);
        open.insert(open.end(), here.children.rbegin(), here.children.rend());
    }
    return names;
}

}
