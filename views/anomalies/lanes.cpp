// SPDX-License-Identifier: GPL-3.0-or-later
#include "lanes.h"

#include <algorithm>
#include <set>

#include <QCoreApplication>

#include <telltale/common/rowlist.h>
#include <telltale/core/blockname.h>
#include <telltale/items/comma.h>
#include <telltale/items/incidentsmodel.h>
#include <telltale/items/moduletree.h>
#include <telltale/items/ruletitles.h>
#include <telltale/items/shownname.h>
#include <telltale/store/catalog.h>

namespace telltale::views {

using judge::Incident;

namespace {

constexpr std::size_t kMostRules = 2;

/// "layers" and 7 of "layers.7"; -1 for what has no number.
std::pair<QString, int> splitNumber(const QString& key)
{
    const auto dot = key.lastIndexOf(u'.');
    bool isNumber = false;
    const int number = key.mid(dot + 1).toInt(&isNumber);
    return isNumber ? std::pair(key.left(std::max<qsizetype>(dot, 0)), number) : std::pair(key, -1);
}

QString blockOf(const Incident& incident)
{
    return incident.first.kind == Kind::Scalar || incident.first.name.empty()
        ? QString()
        : groupOf(QString::fromStdString(incident.first.name));
}

QString rankKey(Rank rank)
{
    return rank.value < 0 ? QString() : QString::number(rank.value);
}

}

void joinRanges(std::vector<StepRange>& ranges)
{
    std::sort(ranges.begin(), ranges.end(), [](const StepRange& a, const StepRange& b) { return a.first < b.first; });
    std::vector<StepRange> joined;
    for (const StepRange& one : ranges) {
        if (!joined.empty() && one.first.value <= joined.back().last.value + 1)
            joined.back().last = std::max(joined.back().last, one.last);
        else
            joined.push_back(one);
    }
    ranges = std::move(joined);
}

LanePlan::LanePlan(const std::vector<QString>& keys, int most, LaneChoice choice)
{
    const bool isOfRanks = choice == LaneChoice::Rank;
    struct Part {
        QString stem;
        std::vector<std::pair<int, QString>> members; ///< number and key
    };
    std::vector<Part> parts;
    for (const QString& key : keys) {
        const auto [stem, number] = splitNumber(key);
        const bool continues
            = number >= 0 && !parts.empty() && parts.back().stem == stem && parts.back().members.back().first >= 0;
        if (!continues)
            parts.push_back({ stem, {} });
        parts.back().members.emplace_back(number, key);
    }
    // Where there are too few lanes for every part, those with numbers, which are most of a model, keep theirs first.
    const int own = std::max(1, most - 1);
    std::vector<bool> areKept(parts.size(), static_cast<int>(parts.size()) <= own);
    if (static_cast<int>(parts.size()) > own) {
        int room = own - 1;
        for (const bool isNumbered : { true, false }) {
            for (std::size_t i = 0; i < parts.size() && room > 0; ++i) {
                if ((parts[i].members.front().first >= 0) != isNumbered)
                    continue;
                areKept[i] = true;
                --room;
            }
        }
    }
    // Each of these has a lane at least; what is left goes to those with most members.
    std::vector<int> shares(parts.size(), 1);
    for (int left = own - static_cast<int>(parts.size()); left > 0; --left) {
        std::size_t fullest = parts.size();
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto load
                = [&](std::size_t at) { return static_cast<double>(parts[at].members.size()) / shares[at]; };
            if (load(i) > 1 && (fullest == parts.size() || load(i) > load(fullest)))
                fullest = i;
        }
        if (fullest == parts.size())
            break;
        ++shares[fullest];
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Part& part = parts[i];
        const std::size_t size = part.members.size();
        const auto lanes = static_cast<std::size_t>(shares[i]);
        const std::size_t each = (size + lanes - 1) / lanes;
        for (std::size_t first = 0; areKept[i] && first < size; first += each) {
            const std::size_t last = std::min(size, first + each) - 1;
            const QString from = QString::number(part.members[first].first);
            const QString range
                = first == last ? from : from + QChar(0x2013) + QString::number(part.members[last].first);
            if (isOfRanks)
                m_names.push_back((first == last ? QCoreApplication::translate("telltale::views::Lanes", "rank %1")
                                                 : QCoreApplication::translate("telltale::views::Lanes", "ranks %1"))
                                      .arg(range));
            else // what is left over is called as the ranges above it
                m_names.push_back(
                    each == 1 ? shownBlock(part.members[first].second) : (part.stem + u' ' + range).trimmed());
            for (std::size_t at = first; at <= last; ++at)
                m_lanes.insert(part.members[at].second, static_cast<int>(m_names.size()) - 1);
        }
    }
    if (std::find(areKept.begin(), areKept.end(), false) == areKept.end())
        return;
    m_names.push_back(QCoreApplication::translate("telltale::views::Lanes", "others"));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (std::size_t at = 0; !areKept[i] && at < parts[i].members.size(); ++at)
            m_lanes.insert(parts[i].members[at].second, static_cast<int>(m_names.size()) - 1);
    }
}

int LanePlan::laneOf(const QString& key) const
{
    return m_lanes.value(key, 0);
}

QString shownBlock(const QString& block)
{
    return block == items::kWholeModel ? QCoreApplication::translate("telltale::views::Lanes", "(model)")
                                       : items::shownName(block);
}

std::vector<QString> blocksOf(const store::Catalog& catalog)
{
    std::vector<QString> blocks;
    std::set<std::string> known;
    for (const std::uint32_t place : catalog.rows->namesInModelOrder()) {
        const auto [block, isNew] = known.insert(telltale::blockOf(std::string(catalog.rows->names().at(place))));
        if (isNew)
            blocks.push_back(QString::fromStdString(*block));
    }
    return blocks;
}

std::vector<QString> rankKeysOf(const store::Catalog& catalog)
{
    std::set<Rank> ranks;
    for (const store::SourceInfo& source : catalog.sources)
        ranks.insert(source.rank);
    std::vector<QString> keys;
    keys.reserve(ranks.size());
    for (const Rank rank : ranks)
        keys.push_back(rankKey(rank));
    return keys;
}

std::vector<Lane> lanesOf(const LanePlan& plan, LaneChoice choice, const items::IncidentsModel& incidents)
{
    std::vector<Lane> lanes;
    for (const QString& name : plan.names())
        lanes.push_back({ name, {} });
    std::vector<std::vector<std::string>> rules(lanes.size());
    std::unordered_map<std::string, int> blocks; // most reach the same ones
    for (int row = 0; row < incidents.rowCount(); ++row) {
        const Incident& incident = incidents.incident(row);
        const int own = plan.laneOf(choice == LaneChoice::Block ? blockOf(incident) : rankKey(incident.first.rank));
        const auto severity = static_cast<std::size_t>(incident.first.severity);
        Lane& lane = lanes[static_cast<std::size_t>(own)];
        lane.rows.push_back(row);
        ++lane.counts[severity];
        auto& said = rules[static_cast<std::size_t>(own)];
        if (said.size() < kMostRules && std::find(said.begin(), said.end(), incident.first.rule) == said.end())
            said.push_back(incident.first.rule);
        for (const judge::Reach& reach : incident.reach) {
            int at = 0;
            if (choice == LaneChoice::Rank) {
                at = plan.laneOf(rankKey(reach.rank));
            } else if (const auto known = blocks.find(reach.block); known != blocks.end()) {
                at = known->second;
            } else {
                at = plan.laneOf(QString::fromStdString(reach.block));
                blocks.emplace(reach.block, at);
            }
            lanes[static_cast<std::size_t>(at)].reach[severity].push_back(reach.steps);
        }
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        QStringList words;
        for (const std::string& rule : rules[i])
            words.append(items::ruleTitle(rule));
        lanes[i].rules = words.join(items::comma());
        for (auto& ranges : lanes[i].reach)
            joinRanges(ranges);
    }
    return lanes;
}

}
